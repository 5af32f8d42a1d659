"""The common page of reports: hostile names stay text, and nothing else than its style may work."""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from fencepost_client.commands.options import new_file
from fencepost_client.report_page import (
    Html,
    Status,
    facts,
    figure,
    how,
    link,
    make_page,
    outcome,
    table,
)
from fencepost_client.report_pictures import (
    Bar,
    Mark,
    Moment,
    bars,
    goals,
    own_file,
    steps,
    timeline,
)

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>&lt;"
PICTURES = {
    "steps": steps([HOSTILE, "b"], HOSTILE),
    "timeline": timeline([Moment(0.5, HOSTILE, "bad")], 2.0, HOSTILE, HOSTILE),
    "bars": bars([Bar(HOSTILE, 2, HOSTILE), Bar("b", 0, "none")], HOSTILE),
    "goals": goals([(HOSTILE, [Mark(1.5, HOSTILE, "good"), Mark(None, "", "none")])], HOSTILE),
}


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_names_with_markup_stay_text() -> None:
    body = [
        outcome([Status(HOSTILE, "bad")]),
        facts({HOSTILE: HOSTILE}),
        figure(HOSTILE, ""),
        table([HOSTILE, "n"], [[HOSTILE, 1], [Status(HOSTILE, "good"), 2]]),
        link(HOSTILE, HOSTILE),
        *how([HOSTILE], HOSTILE),
        *PICTURES.values(),
    ]
    tags = Tags(make_page(HOSTILE, "\n".join(body)))
    assert not tags.names & {"script", "img"}
    assert not {each for each in tags.attributes if each.startswith("on")}
    assert tags.text.count(HOSTILE) > 10


def test_html_is_kept_and_numbers_stand_at_the_right() -> None:
    told = table(["what", "how many"], [[Html("<code>a</code>"), 12_345], ["<b>", ""]])
    assert "<td><code>a</code></td>" in told
    assert "<td>&lt;b&gt;</td>" in told
    assert '<td class="n">12,345</td>' in told
    assert "<th class=n>how many</th>" in told


def test_the_policy_allows_the_pages_own_style_and_nothing_else() -> None:
    page = make_page("a", "b")
    style = page[page.index("<style>") + len("<style>") : page.index("</style>")]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = re.search('Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].split("; ") == [
        "default-src 'none'", "base-uri 'none'", "form-action 'none'",
        f"style-src 'sha256-{digest}'",
    ]  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_well_formed_and_have_a_label(name: str) -> None:
    alone = ElementTree.fromstring(own_file(PICTURES[name]))
    assert alone.tag == "{http://www.w3.org/2000/svg}svg"
    assert alone.get("aria-label") == HOSTILE
    assert HOSTILE.split(">")[0] in "".join(alone.itertext())


def test_a_goal_is_met_at_the_right_of_its_line_and_never_outside() -> None:
    times = (0.001, 0.5, 1.0, 2.0, 1000.0)
    root = ElementTree.fromstring(goals([("a", [Mark(each, "", "good") for each in times])], "b"))
    places = [float(each.get("cx", "")) for each in root.iter("circle")]
    line = next(
        float(each.get("x1", "")) for each in root.iter("line") if each.get("class") == "goal"
    )
    assert places == sorted(places)
    assert places[2] == line
    assert line - places[1] == pytest.approx(places[3] - line, abs=0.2)
    assert 0 < places[0] < places[-1] < 1000


def test_a_file_that_cannot_be_written_is_refused_before_the_work(tmp_path: object) -> None:
    assert new_file(f"{tmp_path}/report.html").name == "report.html"
    for wrong in (f"{tmp_path}", f"{tmp_path}/none/report.html"):
        with pytest.raises(argparse.ArgumentTypeError, match=r"folder|cannot be written"):
            new_file(wrong)
