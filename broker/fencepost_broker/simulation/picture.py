"""The timeline of a run as a picture (SVG): when each thing happened, and what it was."""

from __future__ import annotations

from fencepost_client.report_pictures import Moment, own_file, timeline

from fencepost_broker.simulation.runs import Run


def picture(run: Run) -> str:
    """Return the timeline as a file of its own."""
    return own_file(timeline_of(run, _title(run)))


def timeline_of(run: Run, heading: str = "") -> str:
    """Return the picture: a row for each line of the timeline, and one for the verdict."""
    moments = [
        Moment(at_s, text, "abort" if text.startswith("fault ") else "none")
        for at_s, text in run.timeline
    ]
    verdict = Moment(run.simulated_s, run.verdict, "good" if run.is_right else "bad")
    return timeline([*moments, verdict], run.simulated_s, _title(run), heading)


def _title(run: Run) -> str:
    return f"seed {run.seed}, {run.simulated_s:.3f} virtual seconds"
