"""What the page says of data and settings is what the records hold."""

from manyclass.report.sections.setup import show_setup


def test_settings_in_which_runs_differ_stand_apart_from_those_they_share(report):
    body = show_setup(report()).body
    apart, shared = body.split("2 settings of every run")
    assert '<th scope="row">objective</th>' in apart
    assert '<th scope="row">max_epochs</th>' in shared
    assert "manyclass train x.store -o warp" in shared


def test_data_that_several_records_name_is_one_row(report):
    assert show_setup(report()).body.count('<th scope="row">x.store</th>') == 2  # 600 rows to train, 240 to test


def test_runs_and_searches_are_named(report):
    body = show_setup(report()).body
    assert "2 runs: warp and ovr. Search gallery: " in body
    assert "Report" not in body
