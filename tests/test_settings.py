"""Settings: where they come from, which wins, and what is said when they are wrong."""

from pathlib import Path
from typing import Any

import pytest

from belayer.settings import Settings, read_settings, secrets_in
from belayer.vocabulary.errors import ConfigurationError


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without a settings file and an environment without ours."""
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"BELAYER_{name.upper()}", raising=False)


def write(content: str | bytes) -> None:
    Path("belayer.toml").write_bytes(content if isinstance(content, bytes) else content.encode())


def refusal(**overrides: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        read_settings(**overrides)
    return caught.value.detail


class TestSources:
    def test_without_anything_there_are_defaults(self) -> None:
        settings = read_settings()
        assert (settings.home, settings.concurrency, settings.session_timeout) == (
            Path(".belayer"),
            16,
            1800.0,
        )

    def test_the_environment_is_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("BELAYER_CONCURRENCY", "3")
        assert read_settings().concurrency == 3

    def test_the_file_is_read(self) -> None:
        write('home = "elsewhere"\ngrace = 1.5\n')
        settings = read_settings()
        assert (settings.home, settings.grace) == (Path("elsewhere"), 1.5)

    def test_the_environment_wins_over_the_file(self, monkeypatch: pytest.MonkeyPatch) -> None:
        write("concurrency = 2\nmax_retries = 7\n")
        monkeypatch.setenv("BELAYER_CONCURRENCY", "3")
        settings = read_settings()
        assert (settings.concurrency, settings.max_retries) == (3, 7)

    def test_what_the_caller_says_wins_over_both(self, monkeypatch: pytest.MonkeyPatch) -> None:
        write("concurrency = 2\n")
        monkeypatch.setenv("BELAYER_CONCURRENCY", "3")
        assert read_settings(concurrency=4).concurrency == 4

    def test_what_the_caller_leaves_open_is_looked_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("BELAYER_HOME", "there")
        assert read_settings(home=None).home == Path("there")

    def test_settings_do_not_change_once_they_are_read(self) -> None:
        with pytest.raises(ValueError, match="frozen"):
            read_settings().concurrency = 5  # pyright: ignore[reportAttributeAccessIssue]

    def test_variables_of_others_are_not_ours(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CONCURRENCY", "3")
        monkeypatch.setenv("XBELAYER_CONCURRENCY", "3")
        assert read_settings().concurrency == 16


class TestWrongSettings:
    def test_an_unknown_variable_is_named_with_a_suggestion(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("BELAYER_CONCURENCY", "3")
        assert "BELAYER_CONCURENCY is not a setting (did you mean BELAYER_CONCURRENCY?)" in refusal()

    def test_an_unknown_variable_like_none_is_named_without_one(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("BELAYER_ZZZZZ", "3")
        assert "BELAYER_ZZZZZ is not a setting." in refusal()

    def test_an_unknown_key_of_the_file_is_named_with_a_suggestion(self) -> None:
        write("max_retry = 3\n")
        assert "max_retry in belayer.toml is not a setting (did you mean BELAYER_MAX_RETRIES?)" in refusal()

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("CONCURRENCY", "many"),
            ("CONCURRENCY", "0"),
            ("CONCURRENCY", "1.5"),
            ("CONCURRENCY", ""),
            ("CONCURRENCY", "99999999999"),
            ("SESSION_TIMEOUT", "-1"),
            ("SESSION_TIMEOUT", "soon"),
            ("SESSION_TIMEOUT", "nan"),
            ("SESSION_TIMEOUT", "inf"),
            ("MAX_RETRIES", "-1"),
            ("GRACE", "nan"),
            ("GRACE", "inf"),
        ],
    )
    def test_a_value_that_cannot_be_is_named(
        self, monkeypatch: pytest.MonkeyPatch, name: str, value: str
    ) -> None:
        monkeypatch.setenv(f"BELAYER_{name}", value)
        assert f"BELAYER_{name}" in refusal()

    def test_a_wrong_type_in_the_file_is_named(self) -> None:
        write('concurrency = "many"\n')
        assert "'many'" in refusal()

    def test_everything_that_is_wrong_is_said_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        write("unknown = 1\ngrace = -1\n")
        monkeypatch.setenv("BELAYER_CONCURRENCY", "many")
        monkeypatch.setenv("BELAYER_HOMES", "x")
        said = refusal()
        assert all(name in said for name in ("unknown", "GRACE", "CONCURRENCY", "BELAYER_HOMES"))

    @pytest.mark.parametrize("content", [b"home = ", b"[[[", b"\x00", b"home = \xff"])
    def test_a_file_that_cannot_be_read_is_named(self, content: bytes) -> None:
        write(content)
        assert "belayer.toml" in refusal()

    def test_a_wrong_override_is_named(self) -> None:
        assert "CONCURRENCY" in refusal(concurrency=0)

    def test_the_hint_says_where_to_correct_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("BELAYER_CONCURRENCY", "0")
        with pytest.raises(ConfigurationError) as caught:
            read_settings()
        assert "belayer.toml" in (caught.value.hint or "")


class TestSecrets:
    @pytest.mark.parametrize(
        "name",
        [
            "GITHUB_TOKEN",
            "OPENAI_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "DB_PASSWORD",
            "deploy_private_key",
            "BELAYER_TOKEN",
        ],
    )
    def test_a_variable_that_sounds_secret_is(self, name: str) -> None:
        assert secrets_in({name: "value"}) == ["value"]

    def test_tokens_for_repositories_are_by_host(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GITHUB_TOKEN", "one")
        monkeypatch.setenv("BELAYER_GIT_TOKENS", "Git.corp=two, git.corp:8443=three=3")
        assert read_settings().tokens() == {
            "github.com": "one",
            "git.corp": "two",
            "git.corp:8443": "three=3",
        }

    @pytest.mark.parametrize("written", ["s3cret", "git.corp=", "=s3cret", "https://git.corp=s3cret"])
    def test_a_token_without_a_host_is_named_without_it(
        self, monkeypatch: pytest.MonkeyPatch, written: str
    ) -> None:
        monkeypatch.setenv("BELAYER_GIT_TOKENS", written)
        with pytest.raises(ConfigurationError, match="BELAYER_GIT_TOKENS") as caught:
            read_settings().tokens()
        assert "s3cret" not in f"{caught.value.detail} {caught.value.hint}"

    @pytest.mark.parametrize("name", ["HOME", "PATH", "LANG", "KEYBOARD", "PASS", "USER"])
    def test_an_ordinary_variable_is_not(self, name: str) -> None:
        assert secrets_in({name: "value"}) == []

    def test_without_an_environment_the_real_one_is_looked_at(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SOME_TOKEN", "of this process")
        assert "of this process" in secrets_in()
