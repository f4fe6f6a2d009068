"""The pages in a real browser on a real store: what a reader sees, and what logged text cannot do."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from excam.store import Store
from tests.excam.store.outcomes import error, put, verdict
from tests.serve.dashboard.browser import complaints, follow, served, shoot, text


@pytest.fixture(autouse=True)
def quiet(driver: Chrome) -> None:
    """What other tests made the browser complain about is none of these tests' business."""
    complaints(driver)


def colour(driver: Chrome, code: str) -> str:
    return driver.find_element(By.ID, f"map-{code}").value_of_css_property("fill")


def test_the_overview_says_the_rate_its_interval_and_how_many_answers_it_rests_on(driver: Chrome, site: str) -> None:
    driver.get(site)
    assert "of 594 answers about culture hold an error (95 % interval" in text(driver, ".lead")
    assert text(driver, "#rate").endswith("%")
    assert complaints(driver) == []
    shoot(driver, "overview", 2100)


def test_the_map_shades_what_is_known_and_leaves_three_answers_grey(driver: Chrome, site: str) -> None:
    driver.get(site)
    shades = {code: colour(driver, code) for code in ("ID", "JP", "MX", "FR")}
    assert len(set(shades.values())) == 4
    driver.get(f"{site}/?country=MX")
    assert colour(driver, "MX") == shades["MX"]


def test_filters_go_into_the_address_so_that_a_view_can_be_shared(driver: Chrome, site: str) -> None:
    driver.get(site)
    driver.find_element(By.CSS_SELECTOR, ".filters summary").click()
    Select(driver.find_element(By.NAME, "country")).select_by_value("JP")
    Select(driver.find_element(By.NAME, "model")).select_by_value("bot-2")
    follow(driver, By.CSS_SELECTOR, "#filters button")
    assert driver.current_url == f"{site}/?country=JP&model=bot-2"
    shared = text(driver, ".lead")
    driver.get(f"{site}/?country=JP&model=bot-2")
    assert text(driver, ".lead") == shared
    assert Select(driver.find_element(By.NAME, "country")).first_selected_option.text == "Japan"


def test_one_walks_from_the_overview_to_the_marked_words(driver: Chrome, site: str) -> None:
    driver.get(site)
    follow(driver, By.LINK_TEXT, "Indonesia")
    assert text(driver, "h1") == "Indonesia"
    assert "bot-1" in text(driver, ".compared")
    shoot(driver, "country", 2000)
    follow(driver, By.CSS_SELECTOR, ".reports a")
    mark = driver.find_element(By.CSS_SELECTOR, "#output mark")
    assert mark.text in ("left hand▲1", "left hand△1")
    assert "the left hand is not used" in text(driver, "#error-1")
    assert complaints(driver) == []


def test_a_script_in_a_logged_pair_is_shown_and_never_runs(driver: Chrome, site: str) -> None:
    for page in ("/reports", f"/report?id={quote('pair/<script>&?', safe='')}", "/country?country=DE", "/runs"):
        driver.get(site + page)
        assert "hacked" not in driver.title
        assert driver.find_elements(By.CSS_SELECTOR, "main img, main script") == []
        assert complaints(driver) == []
    driver.get(f"{site}/report?id={quote('pair/<script>&?', safe='')}")
    assert "<script>document.title='hacked'</script>" in text(driver, "#output")
    assert text(driver, "#output mark") == "left hand▲1"
    shoot(driver, "report", 1150)


def test_the_policy_stops_a_script_that_gets_into_a_page_all_the_same(driver: Chrome, site: str) -> None:
    driver.get(f"{site}/runs")
    before = driver.title
    driver.execute_script(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">');"
        "const s = document.createElement('div'); s.innerHTML = '<b onclick=\"document.title=2\" id=evil>x</b>';"
        "document.body.append(s); document.getElementById('evil').click();"
    )
    assert driver.title == before
    assert any("Content Security Policy" in message for message in complaints(driver))


def test_text_from_right_to_left_and_in_japanese_is_marked_where_it_stands(driver: Chrome, site: str) -> None:
    driver.get(f"{site}/report?id=arabic")
    assert driver.find_element(By.ID, "output").value_of_css_property("direction") == "rtl"
    assert text(driver, "#output mark").startswith("باليد اليسرى")
    shoot(driver, "report-arabic", 1000)
    driver.get(f"{site}/report?id=japanese")
    assert driver.find_element(By.ID, "output").value_of_css_property("direction") == "ltr"
    assert text(driver, "#output mark").startswith("立てて置く")


def test_two_models_are_compared_with_interval_and_p_value(driver: Chrome, site: str) -> None:
    driver.get(f"{site}/compare")
    assert "points" in text(driver, ".compared")
    assert "too few to compare" in text(driver, "main")
    assert "possible\np = " in text(driver, ".compared")
    assert complaints(driver) == []
    shoot(driver, "compare", 1050)


def test_runs_and_dead_letters_lead_to_the_record_and_how_to_try_it_again(driver: Chrome, site: str) -> None:
    driver.get(f"{site}/runs")
    shoot(driver, "runs", 700)
    follow(driver, By.CSS_SELECTOR, "#dead-letters td a")
    assert "excam dead-letters replay" in text(driver, "main")
    assert driver.find_elements(By.CSS_SELECTOR, "main b") == []
    shoot(driver, "dead-letter", 700)
    follow(driver, By.CSS_SELECTOR, "main form button")
    assert "waits for the next replay" in text(driver, "#dead-letters")
    assert "asked for" in text(driver, ".replay")


def test_a_reader_reviews_a_report_and_the_overview_counts_it(driver: Chrome, site: str) -> None:
    driver.get(f"{site}/report?id=japanese")
    driver.find_element(By.CSS_SELECTOR, "input[value=right]").click()
    driver.find_element(By.NAME, "comment").send_keys("Yes <b>indeed</b>")
    follow(driver, By.CSS_SELECTOR, "#reviews button")
    assert "Yes <b>indeed</b>" in text(driver, "#reviews")
    driver.get(f"{site}/?country=JP")
    assert "of 1 reviewed reports" in text(driver, "#agreement")


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1600, 900)])
def test_no_page_is_wider_than_its_screen(driver: Chrome, site: str, width: int, height: int) -> None:
    driver.set_window_size(width, height)
    for page in ("/", "/country?country=ID", "/reports", "/report?id=arabic", "/compare", "/runs"):
        driver.get(site + page)
        assert driver.execute_script("return document.documentElement.scrollWidth <= window.innerWidth"), page
        if width < 400 and page in ("/", "/report?id=arabic"):
            shoot(driver, f"phone-{'overview' if page == '/' else 'report'}", 1500, width)
    driver.set_window_size(1200, 900)


def test_an_empty_store_one_row_and_no_store_at_all_each_have_a_page(driver: Chrome, tmp_path: Path) -> None:
    url = f"ducklake:sqlite:{tmp_path}/small/catalog.sqlite"
    with served(url) as address:
        driver.get(address)
        assert text(driver, "h1") == "The store cannot be reached"
        assert str(tmp_path) not in driver.page_source
        Store.open(url).close()
        driver.get(address)
        assert text(driver, "h1") == "Nothing to show yet"
        with Store.open(url) as store:
            put(store, verdict(1, errors=[error()], output="Eat it with the left hand."))
        driver.get(address)
        assert "100.0 % of 1 answers" in text(driver, ".lead")
        assert "never taught" in text(driver, ".warning")
        assert "few" in str(driver.find_element(By.ID, "map-ID").get_attribute("class"))
