from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests.retrievers import RetrieversIntegrationTests

from langchain_llm_judge import ConfigError, InputError, RAGProvider, RetrievalError
from langchain_llm_judge.retrieval import as_documents, as_provider

A, B = Document(page_content="a", metadata={"page": 1}, id="1"), Document(page_content="b")


def store(count: int = 10) -> InMemoryVectorStore:
    vectors = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    vectors.add_texts([f"passage {number}" for number in range(count)])
    return vectors


class FixedRetriever(BaseRetriever):
    documents: list[Any]

    def _get_relevant_documents(self, query: str, **kwargs: Any) -> list[Any]:
        if self.documents and isinstance(self.documents[0], Exception):
            raise self.documents[0]
        return self.documents


class TestStandardSuiteOverAVectorStore(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return RAGProvider

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"retriever": store()}

    @property
    def retriever_query_example(self) -> str:
        return "which passage?"


class TestStandardSuiteOverACallable(TestStandardSuiteOverAVectorStore):
    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"retriever": lambda query: [f"{query} {number}" for number in range(5)]}


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        (None, []),
        ([], []),
        ("one string", ["one string"]),
        (A, ["a"]),
        ([A, B, A], ["a", "b", "a"]),
        ([(A, 0.8), (B, 0.1)], ["a", "b"]),
        ((A, 0.8), ["a"]),
        ((A, B), ["a", "b"]),
        (("a", "b"), ["a", "b"]),
        ([("a", 0.8)], ["a"]),
        ([{"page_content": "x"}, {"text": "y"}, {"content": "z"}], ["x", "y", "z"]),
        ({"page_content": "x"}, ["x"]),
        ({"documents": [A, "c"]}, ["a", "c"]),
        ({"context": [A], "answer": "no passage"}, ["a"]),
        ([""], [""]),
        (iter([A, "b"]), ["a", "b"]),
    ],
)
def test_f16_every_form_of_passages_becomes_documents(given: Any, texts: list[str]):
    assert [document.page_content for document in as_documents(given)] == texts


def test_metadata_and_id_are_kept():
    assert as_documents([(A, 0.8)]) == [A]
    assert as_documents([{"text": "t", "id": 7, "metadata": {"page": 2}, "source": "s.pdf"}]) == [
        Document(page_content="t", metadata={"page": 2, "source": "s.pdf"}, id="7")
    ]


def test_objects_of_other_document_classes_are_read():
    class Passage:
        page_content = "p"
        metadata = {"page": 3}

    assert as_documents([Passage()]) == [Document(page_content="p", metadata={"page": 3})]


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ([A, 7], "passage 1 is int: 7"),
        ([None], "passage 0 is NoneType"),
        ([{"title": "t"}], "passage 0 is dict"),
        ([{"text": None}], "passage 0 is dict"),
        ([["nested"]], "passage 0 is list"),
        (7, "int holds no passages"),
        (b"bytes", "bytes holds no passages"),
        ({"title": "t"}, "dict holds no passages"),
    ],
)
def test_what_is_no_passage_is_refused_with_place_and_type(given: Any, place: str):
    with pytest.raises(InputError, match=place):
        as_documents(given)


class HasInvoke:
    def invoke(self, query: str) -> list[str]:
        return [query]


class HasOldMethod:
    def get_relevant_documents(self, query: str) -> list[Document]:
        return [Document(page_content=query)]


@pytest.mark.parametrize(
    "retriever",
    [
        FixedRetriever(documents=[Document(page_content="q")]),
        RunnableLambda(lambda query: [query]),
        lambda query: query,
        lambda query: [(Document(page_content=query), 0.9)],
        HasInvoke(),
        HasOldMethod(),
        RAGProvider(lambda query: [query]),
    ],
)
async def test_any_retriever_is_searched_sync_and_async(retriever: Any):
    provider = as_provider(retriever)
    assert [document.page_content for document in provider.retrieve("q")] == ["q"]
    assert [document.page_content for document in await provider.aretrieve("q")] == ["q"]


async def test_async_only_callables_work_async_and_say_so_when_sync():
    async def search(query: str) -> list[str]:
        return [query]

    assert [document.page_content for document in await RAGProvider(search).aretrieve("q")] == ["q"]
    with pytest.raises(RetrievalError, match="async only"):
        RAGProvider(search).retrieve("q")


def test_a_vector_store_is_asked_for_k():
    assert len(RAGProvider(store(), k=7).retrieve("q")) == 7
    assert len(RAGProvider(store()).invoke("q", k=9)) == 9


@pytest.mark.parametrize("wrong", [None, 7, "text", [A], HasInvoke])
def test_what_cannot_be_searched_is_refused(wrong: Any):
    with pytest.raises(ConfigError, match="is no retriever"):
        RAGProvider(wrong)


@pytest.mark.parametrize("settings", [{"k": 0}, {"k": True}, {"k": "3"}, {"on_empty": "zero"}])
def test_wrong_settings_are_refused(settings: dict[str, Any]):
    with pytest.raises(ConfigError):
        RAGProvider(lambda query: [query], **settings)


@pytest.mark.parametrize("found", [[], None, [""], ["  ", Document(page_content="\n")]])
async def test_f16_nothing_found_is_an_error_or_an_empty_list(found: Any):
    strict, lenient = RAGProvider(lambda _: found), RAGProvider(lambda _: found, on_empty="ungrounded")
    with pytest.raises(RetrievalError) as caught:
        strict.retrieve("who?")
    assert caught.value.query == "who?"
    with pytest.raises(RetrievalError):
        await strict.aretrieve("who?")
    assert lenient.retrieve("who?") == await lenient.aretrieve("who?") == []
    assert lenient.extract_content("who?") is None
    assert await lenient.aget_most_relevant_doc("who?") is None
    assert len(strict.invoke("who?")) == len(found or [])


async def test_f16_a_retriever_that_raises_is_not_an_empty_one():
    broken = RAGProvider(
        FixedRetriever(documents=[ConnectionError("postgres://user:secret@host")]), on_empty="ungrounded"
    )
    for ask in (broken.retrieve, broken.invoke):
        with pytest.raises(RetrievalError, match="ConnectionError") as caught:
            ask("q")
        assert "secret" not in str(caught.value)
        assert isinstance(caught.value.__cause__, ConnectionError)
    with pytest.raises(RetrievalError):
        await broken.aretrieve("q")


def test_what_a_retriever_gives_beside_documents_is_named():
    with pytest.raises(RetrievalError, match="passage 1 is int: 7"):
        RAGProvider(lambda _: ["fine", 7]).retrieve("q")


async def test_texts_are_joined_by_blank_lines_and_the_first_is_the_most_relevant():
    provider = RAGProvider(lambda _: [A, B, B])
    assert provider.extract_content("q") == await provider.aextract_content("q") == "a\n\nb\n\nb"
    assert provider.get_most_relevant_doc("q") == await provider.aget_most_relevant_doc("q") == A


async def test_f16_a_sync_only_retriever_does_not_block_the_loop():
    threads = []

    def slow(query: str) -> list[str]:
        threads.append(threading.current_thread())
        time.sleep(0.2)
        return [query]

    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.01)
            beats += 1

    heart = asyncio.create_task(beat())
    await asyncio.gather(RAGProvider(slow).aretrieve("q"), RAGProvider(FixedRetriever(documents=[A])).aretrieve("q"))
    heart.cancel()
    assert beats >= 5
    assert threads[0] is not threading.main_thread()


def test_the_wrapped_retriever_runs_as_a_child():
    class Runs(BaseCallbackHandler):
        def __init__(self) -> None:
            self.parents: list[Any] = []

        def on_retriever_start(self, serialized: Any, query: str, *, run_id: Any, parent_run_id: Any, **_: Any) -> None:
            self.parents.append((run_id, parent_run_id))

    runs = Runs()
    RAGProvider(FixedRetriever(documents=[A])).retrieve("q", {"callbacks": [runs]})
    (outer, none), (_, parent) = runs.parents
    assert none is None
    assert parent == outer
