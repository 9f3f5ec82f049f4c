"""Check a caller's options against the model's row, before a bot joins a meeting. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sederunt.transcription.languages import DETECT, is_known, primary_tag
from sederunt.transcription.rows import Can, ModelRow, VocabularyRule


def option_faults(model: ModelRow, title: str, *, lang: str | None, vocabulary: Sequence[str]) -> Mapping[str, str]:
    """Return field → what this model does not support, and what to do instead; empty if it supports everything.

    Args:
        title: the vendor's name, as people write it.
    """
    name = f"{model.identifier} ({title})"
    faults = {"lang": _lang(model, name, lang), "custom_vocabulary": _vocabulary(model, name, vocabulary)}
    return {field: sentence for field, sentence in faults.items() if sentence}


def _lang(model: ModelRow, name: str, lang: str | None) -> str:
    tag = (lang or "").strip()
    if not tag:
        return ""
    if tag.lower() in DETECT:
        can_detect = Can.DETECT_LANGUAGE in model.can or model.default_lang == "multi"
        return "" if can_detect else f"lang is '{tag}', but {name} cannot find the language: name it, such as 'en'."
    languages = model.languages
    if languages is None or tag.lower() in languages or primary_tag(tag) in languages or not is_known(tag):
        return ""
    return f"lang is '{tag}', which {name} does not transcribe; it knows {', '.join(sorted(languages))}."


def _vocabulary(model: ModelRow, name: str, vocabulary: Sequence[str]) -> str:
    """Return what exceeds the model's limits. Words for a model that takes none are kept and not used."""
    if Can.VOCABULARY not in model.can:
        return ""
    rule = model.vocabulary
    if rule.terms is not None and len(vocabulary) > rule.terms:
        return f"custom_vocabulary has {len(vocabulary)} terms; {name} takes at most {rule.terms}."
    letters = sum(map(len, vocabulary))
    if rule.letters_in_all is not None and letters > rule.letters_in_all:
        return f"custom_vocabulary has {letters} characters in all; {name} takes at most {rule.letters_in_all}."
    tokens = sum(_tokens(term) for term in vocabulary)
    if rule.tokens is not None and tokens > rule.tokens:
        return f"custom_vocabulary comes to some {tokens} tokens (of four letters); {name} takes at most {rule.tokens}."
    return next((sentence for term in vocabulary if (sentence := _term(rule, name, term))), "")


def _term(rule: VocabularyRule, name: str, term: str) -> str:
    words = len(term.split())
    if rule.words is not None and words > rule.words:
        return f"custom_vocabulary has '{term}', {words} words; {name} takes at most {rule.words} in a term."
    if rule.letters is not None and len(term) > rule.letters:
        return f"custom_vocabulary has '{term}', {len(term)} characters; {name} takes at most {rule.letters}."
    longest = max(map(len, term.split()), default=0)
    if rule.word_letters is not None and longest > rule.word_letters:
        most = f"{name} takes at most {rule.word_letters} in a word"
        return f"custom_vocabulary has '{term}', a word of {longest} characters; {most}."
    if not rule.digits and any(letter.isdigit() for letter in term):
        return f"custom_vocabulary has '{term}'; {name} takes no digits: write them as words."
    return ""


def _tokens(term: str) -> int:
    """Return roughly how many tokens a term has at most: vendors do not say how they count."""
    return sum(len(word) // 4 + 1 for word in term.split())
