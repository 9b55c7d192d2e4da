"""The report in headless Chromium: it opens offline, shows its content and has no errors."""

import shutil

import pytest
from browser import NAMES, BrowserError, Page, find_chromium
from tiny_run import TARGETS, Tiny

CHROMIUM = find_chromium()
DEVIATIONS = "results/tiny/compare/deviations.html"
TEXT = "document.body.innerText"
#: Rows of the open category, each a table or figure.
ROWS = "[...document.querySelectorAll('nav tbody tr')]"


@pytest.fixture(scope="module")
def report(reference, tmp_path_factory):
    """Report of the tiny run: tables and figures of paper 1, and the deviations."""
    folder = tmp_path_factory.mktemp("report") / "run"
    shutil.copytree(reference.folder, folder, symlinks=True)
    tiny = Tiny(folder)
    tiny.make("--cores", "1", "--", *TARGETS, DEVIATIONS)
    tiny.make("--report", "report.html", "--", *TARGETS, DEVIATIONS)
    return folder / "report.html"


@pytest.fixture
def page(report, tmp_path):
    try:
        page = Page(CHROMIUM, tmp_path / "profile")
    except BrowserError as error:  # a Chromium in a box of its own (snap) may refuse
        pytest.skip(f"{CHROMIUM} cannot be driven here: {error}")
    with page:
        page.call("Page.navigate", url=report.as_uri())
        page.wait_until("typeof categories !== 'undefined' && !!document.querySelector('nav li')")
        yield page


def _click(page, text, where="nav a"):
    found = f"[...document.querySelectorAll('{where}')].find(a => a.innerText.trim() === '{text}')"
    page.wait_until(f"!!{found}")
    page.evaluate(f"{found}.click()")


def _open(page, category, title, button):
    """Click one of the two signs of a result: 0 shows it, 1 tells about it."""
    _click(page, category)
    row = f"{ROWS}.find(row => row.innerText.trim() === '{title}')"
    page.wait_until(f"!!{row}")
    page.evaluate(f"{row}.querySelectorAll('a')[{button}].click()")


def _no_complaints(page):
    page.evaluate("new Promise(done => setTimeout(done, 300))")
    assert page.problems == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []


needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason=f"needs a browser: none of {', '.join(NAMES)} is on the PATH"
)


@needs_chromium
@pytest.mark.slow
@pytest.mark.workflow
def test_the_first_page_says_what_it_is_and_draws_the_rules(page):
    text = page.wait_until(f"{TEXT}.includes('Start with Verdicts') && {TEXT}")
    for category in ("Paper 1: SubSVMs", "Verdicts, provenance, run times"):
        assert category in text
    page.wait_until("document.querySelector('#rulegraph svg, #rulegraph canvas')?.clientHeight > 0")
    _click(page, "Statistics")
    page.wait_until("document.querySelector('#runtimes svg, #runtimes canvas')?.clientHeight > 0")
    _no_complaints(page)


@needs_chromium
@pytest.mark.slow
@pytest.mark.workflow
def test_all_results_of_all_categories_are_listed(page):
    for category, results in page.evaluate(
        "Object.entries(categories).map(([name, parts]) => [name, Object.values(parts).flat()])"
    ):
        _click(page, category)
        page.wait_until(f"{ROWS}.length > 0")
        assert page.evaluate(f"{ROWS}.length") == len(results)
        _click(page, "Results")
    _no_complaints(page)


@needs_chromium
@pytest.mark.slow
@pytest.mark.workflow
def test_a_table_a_figure_and_a_caption_open(page):
    _open(page, "Paper 1: SubSVMs", "Table 1: data sets", 0)
    frame = "document.querySelector('iframe')"
    page.wait_until(f"{frame}?.clientHeight > 300 && {frame}.clientWidth > 300")
    trees = page.call("Page.getFrameTree")["frameTree"]["childFrames"]
    world = page.call("Page.createIsolatedWorld", frameId=trees[0]["frame"]["id"])
    answer = page.call(
        "Runtime.evaluate",
        expression="document.body.innerText",
        contextId=world["executionContextId"],
        returnByValue=True,
    )
    assert "Table 1: the data sets" in answer["result"]["value"]
    assert "two_gaussians" in answer["result"]["value"]

    _click(page, "Results")
    _open(page, "Paper 1: SubSVMs", "Figure 2: corrected labels of Gaussians", 0)
    image = "document.querySelector('img:not(nav img)')"
    page.wait_until(f"{image}?.complete && {image}.naturalWidth > 500 && {image}.clientWidth > 300")

    _click(page, "Results")
    _open(page, "Verdicts, provenance, run times", "Table: deviations from the papers", 1)
    page.wait_until(f"{TEXT}.includes('what the paper says, what we do, why')")
    _no_complaints(page)


@needs_chromium
@pytest.mark.slow
@pytest.mark.workflow
def test_complaints_would_be_heard(page):
    page.evaluate("console.error('spoiled on purpose')")
    page.evaluate("fetch('http://outside.invalid/x').catch(() => 0)")
    page.evaluate("new Promise(done => setTimeout(done, 300))")
    assert any("spoiled on purpose" in problem for problem in page.problems)
    assert "http://outside.invalid/x" in page.requests
