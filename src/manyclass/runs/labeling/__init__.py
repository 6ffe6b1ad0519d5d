"""Labeling: people say what pictures show, a classifier learns behind them, and says which picture to ask for next.

label_event         LabelEvent, one thing that somebody said, and its line in a file
label_log           LabelLog, all of them in one append-only file, and what holds now
labeling_session    LabelingSession: proposals, the next picture, training; what a page or a notebook talks to
label_state         what each picture is at one moment, by people or by what it came with
picture_queue       pictures to ask for by one model, found when somebody asks
choosing            which picture to ask for next, by several strategies, and why
learning_curve      how often the model is right, by pictures that were picked by chance
learned_model       what was learned from the labels that there were, and what it is made of
seeded_means        nearest means, which pictures without labels help to place
picture_space       coordinates in which pictures lie near others of their kind
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "CHOICES": "choosing",
        "REASONS": "choosing",
        "Choice": "picture_queue",
        "CurvePoint": "learning_curve",
        "LabelEvent": "label_event",
        "LabelLog": "label_log",
        "LabelingSession": "labeling_session",
        "Proposal": "labeling_session",
        "TrainingResult": "labeling_session",
        "check_label": "label_event",
        "read_label_events": "label_log",
    },
)
