"""Report: one self-contained HTML page, made of the records that runs wrote.

    page           write_page, the document
    report_data    collect, the records of run folders and galleries
    advice         what the numbers of a run say, and what would help
    commands       lines to try, with the paths of a run
    sections/      what the page shows, one function per section
    figures/       charts as SVG
    components     captions, legends, details: what sections are made of
    thumbnails     small images inside the page
    html           elements and tables, by function calls
    assets/        the style and the script of the page

The page loads nothing from outside, and the same records give the same bytes.
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__, {"collect": "report_data", "write_page": "page"}, ("figures", "sections")
)
