"""Anybody can use the pages: enough contrast by day and night, by keyboard alone, on paper, and with no internet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By

from tests.serve.dashboard.browser import left, requests, seen_as, shoot, text

PAGES = ("/", "/?country=MX", "/country?country=ID", "/reports", "/report?id=arabic", "/compare", "/runs", "/nothing")
CONTRAST = Path(__file__).with_name("contrast.js").read_text("utf-8")
FOCUSED = """const at = document.activeElement, style = getComputedStyle(at);
return {tag: at.tagName, name: at.name || at.textContent.trim(), type: at.type,
        outline: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
        visible: at.checkVisibility() && at.getBoundingClientRect().left >= 0}"""

STYLED = """const sheet = new CSSStyleSheet();  // what the page's security policy lets a test add, and no page
sheet.replaceSync(arguments[0]);
document.adoptedStyleSheets = [sheet]"""


def short_of_contrast(driver: Chrome) -> list[str]:
    found = driver.execute_script(CONTRAST)
    assert found["checked"] > 5
    short: list[str] = found["short"]
    return short


def tab(driver: Chrome) -> dict[str, Any]:
    """Press Tab, and say where the keyboard is now; wherever that is, it must be seen."""
    driver.switch_to.active_element.send_keys(Keys.TAB)
    at: dict[str, Any] = driver.execute_script(FOCUSED)
    if at["tag"] != "BODY":
        assert at["outline"] > 0, f"nothing shows that the keyboard is at {at['name']!r}"
        assert at["visible"], f"the keyboard is at {at['name']!r}, which nobody sees"
    return at


def tab_to(driver: Chrome, name: str, most: int = 80) -> dict[str, Any]:
    for _ in range(most):
        at = tab(driver)
        if at["name"] == name:
            return at
    raise AssertionError(f"the keyboard does not reach {name!r}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_and_every_field_stands_out_enough(driver: Chrome, site: str, scheme: str) -> None:
    with seen_as(driver, scheme=scheme):
        for page in PAGES:
            driver.get(site + page)
            assert short_of_contrast(driver) == [], page
        if scheme == "dark":
            driver.get(site)
            shoot(driver, "overview-dark", 1200)


@pytest.mark.parametrize(
    ("rule", "named"),
    [
        ("h1 { color: #999 !important }", "2.85 < 3: Cultural errors in your"),
        ("#main p { color: #888 !important; background: #eee !important }", "3.06 < 4.5:"),
        ("input, select { border-color: #ccc !important }", "edge of since"),
        (".line { stroke: #ddd !important }", ".line"),
    ],
)
def test_what_is_too_pale_is_named_by_the_check_above(driver: Chrome, site: str, rule: str, named: str) -> None:
    with seen_as(driver):
        driver.get(site)
        assert short_of_contrast(driver) == []
        driver.execute_script(STYLED, rule)
        assert any(named in one for one in short_of_contrast(driver)), short_of_contrast(driver)


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        (".skip:focus { outline: none !important }", "nothing shows"),
        (".skip:focus { left: -999px !important }", "nobody sees"),
    ],
)
def test_a_focus_that_cannot_be_seen_fails_the_walk_by_keyboard(
    driver: Chrome, site: str, rule: str, wrong: str
) -> None:
    driver.get(site)
    driver.execute_script(STYLED, rule)
    with pytest.raises(AssertionError, match=wrong):
        tab(driver)


def test_dark_mode_is_dark_and_paper_is_white_even_then(driver: Chrome, site: str) -> None:
    driver.get(site)
    ground = "return getComputedStyle(document.body).backgroundColor"
    with seen_as(driver):
        assert driver.execute_script(ground) == "rgb(255, 255, 255)"
    with seen_as(driver, scheme="dark"):
        assert driver.execute_script(ground) == "rgb(22, 24, 28)"
    with seen_as(driver, "print", "dark"):
        assert driver.execute_script(ground) == "rgb(255, 255, 255)"
        assert short_of_contrast(driver) == []


def test_paper_holds_the_figures_and_nothing_to_click(driver: Chrome, site: str) -> None:
    with seen_as(driver, "print"):
        driver.get(f"{site}/report?id=japanese")
        assert driver.find_element(By.ID, "output").is_displayed()
        for selector in ("nav", "#reviews form"):
            assert not driver.find_element(By.CSS_SELECTOR, selector).is_displayed(), selector
        driver.get(site)
        assert driver.find_element(By.CSS_SELECTOR, ".world").is_displayed()
        assert not driver.find_element(By.CSS_SELECTOR, ".filters").is_displayed()


def test_the_keyboard_reaches_filters_countries_and_a_report_in_reading_order(driver: Chrome, site: str) -> None:
    driver.get(site)
    assert tab(driver)["name"] == "Skip to the content"
    assert [tab(driver)["name"] for _ in range(5)] == ["ExCAM", "Overview", "Reports", "Compare", "Runs"]
    assert tab(driver)["name"] == "Filters"
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    for field in ("since", "country", "language", "app", "model", "type", "severity", "p_error", "judge", "Apply"):
        tab_to(driver, field, most=12)  # a date alone is four stops
    tab_to(driver, "Indonesia")
    with left(driver):
        driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert text(driver, "h1") == "Indonesia"


def test_a_report_is_reviewed_without_a_mouse(driver: Chrome, site: str) -> None:
    driver.get(f"{site}/report?id=arabic")
    tab_to(driver, "opinion")
    driver.switch_to.active_element.send_keys(Keys.SPACE)
    driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert tab(driver)["name"] == "comment"
    driver.switch_to.active_element.send_keys("by hand")
    assert tab(driver)["name"] == "Save review"
    with left(driver):
        driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert "partly" in text(driver, "#reviews p")
    assert "by hand" in text(driver, "#reviews p")


def test_no_request_leaves_the_site(driver: Chrome, site: str) -> None:
    requests(driver)
    for page in PAGES:
        driver.get(site + page)
    asked = requests(driver)
    assert any(address.endswith("/static/style.css") for address in asked)
    own = (f"{site}/", "data:")  # what is written into a page, or the browser's own controls, is asked of nobody
    assert [address for address in asked if not address.startswith(own)] == []
