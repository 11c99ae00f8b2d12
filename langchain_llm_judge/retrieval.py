"""Retrievers for grounding: any of them under one roof, and the one place where what they give becomes documents."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, get_args

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import run_in_executor
from langchain_core.vectorstores import VectorStore
from pydantic import ConfigDict

from langchain_llm_judge.errors import ConfigError, InputError, RetrievalError, shown

OnEmpty = Literal["error", "ungrounded"]
"""What to do where nothing is retrieved.

`error`: raise `RetrievalError`; `ungrounded`: go on without passages, and say so in the result.
"""

TEXT_FIELDS = ("page_content", "text", "content")
"""Names under which a mapping holds a passage's text, the first found counts."""
_LIST_FIELDS = ("documents", "contexts", "context", "source_documents")
_ACCEPTED = "a Document, a text, (document, score), a dict with 'page_content', 'text' or 'content', or a list of these"


def as_documents(value: Any) -> list[Document]:
    """Whatever holds passages, as documents: order and duplicates stay, texts stay to the letter.

    Args:
        value: Documents, `(document, score)` pairs (the score is left out: the order tells the rank), mappings with
            `page_content`, `text` or `content` (their other entries become metadata), texts; one of
            these or any iterable of them. A bare text is one passage. A mapping with a list under
            `documents`, `contexts`, `context` or `source_documents` counts as that list. `None` is no passages.

    Raises:
        InputError: Something else is there; the message names its place and type.

    Example:
        >>> [document.page_content for document in as_documents(["a", ("b", 0.7), {"text": "c"}])]
        ['a', 'b', 'c']
    """
    if value is None:
        return []
    if isinstance(value, Mapping):
        inner = next((value[name] for name in _LIST_FIELDS if name in value and not _text_of(value)), value)
        if inner is not value:
            return as_documents(inner)
    document = _document(value)
    if document is not None:
        return [document]
    if isinstance(value, bytes | bytearray | Mapping) or not isinstance(value, Iterable):
        raise InputError(f"{type(value).__name__} holds no passages: {shown(value)}; expected {_ACCEPTED}", found=value)
    return [_item(index, item) for index, item in enumerate(value)]


def _item(index: int, item: Any) -> Document:
    document = _document(item)
    if document is None:
        raise InputError(
            f"passage {index} is {type(item).__name__}: {shown(item)}; expected {_ACCEPTED}",
            field=f"contexts[{index}]",
            found=item,
        )
    return document


def _document(value: Any) -> Document | None:
    """One passage as a document; `None` where `value` is none."""
    if isinstance(value, Document):
        return value
    if isinstance(value, str):
        return Document(page_content=value)
    if isinstance(value, Mapping):
        return _from_mapping(value)
    if isinstance(value, tuple) and len(value) == 2 and not _holds_text(value[1]):
        return _document(value[0])
    text = getattr(value, "page_content", None)
    if isinstance(text, str):
        metadata = getattr(value, "metadata", None)
        return Document(page_content=text, metadata=dict(metadata) if isinstance(metadata, Mapping) else {})
    return None


def _holds_text(value: Any) -> bool:
    return isinstance(value, str | Mapping | Document | tuple | list)


def _text_of(value: Mapping[str, Any]) -> str | None:
    return next((name for name in TEXT_FIELDS if isinstance(value.get(name), str)), None)


def _from_mapping(value: Mapping[str, Any]) -> Document | None:
    name = _text_of(value)
    if name is None:
        return None
    rest = {key: item for key, item in value.items() if key not in {name, "metadata", "id", "type"}}
    metadata = value.get("metadata")
    identifier = value.get("id")
    return Document(
        page_content=value[name],
        metadata={**rest, **(metadata if isinstance(metadata, Mapping) else {})},
        id=None if identifier is None else str(identifier),
    )


Search: TypeAlias = Callable[[str, RunnableConfig, "int | None"], Any]
"""How a wrapped object is searched: query, config and number of passages wanted."""


class RAGProvider(BaseRetriever):
    """Any retriever as the source of truth of a judge, and a retriever itself.

    `retrieve` applies `on_empty`; as a plain retriever (`invoke`) it gives `[]` where nothing is found.
    Both raise `RetrievalError` where the retriever fails.

    Args:
        retriever: A LangChain retriever, a vector store, a `Runnable` or callable from text to documents, or
            any object with `invoke` or `get_relevant_documents`.
        k: How many passages to keep, the first ones; a vector store is asked for as many. `None` keeps all.
        on_empty: What `retrieve` and the judges do where nothing is found; see `OnEmpty`.

    Raises:
        ConfigError: `retriever` cannot be searched, or a setting is not usable.

    Example:
        >>> provider = RAGProvider(lambda query: ["Refunds within 20 days.", "Open on Sundays."], k=1)
        >>> provider.extract_content("refunds?")
        'Refunds within 20 days.'
    """

    model_config = ConfigDict(use_attribute_docstrings=True)

    retriever: Any
    k: int | None = None
    on_empty: OnEmpty = "error"

    def __init__(self, retriever: Any, *, k: int | None = None, on_empty: OnEmpty = "error", **fields: Any) -> None:
        if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
            raise ConfigError(f"k={shown(k)} is no number of passages; give a whole number from 1, or None for all")
        if on_empty not in get_args(OnEmpty):
            raise ConfigError(f"on_empty={shown(on_empty)} is neither 'error' nor 'ungrounded'")
        _check_searchable(retriever)
        super().__init__(**{"retriever": retriever, "k": k, "on_empty": on_empty, **fields})

    def retrieve(self, query: str, config: RunnableConfig | None = None) -> list[Document]:
        """The passages for a query, in rank order.

        Returns:
            `[]` only where nothing is found and `on_empty="ungrounded"`.

        Raises:
            RetrievalError: The retriever failed, or found nothing (no passage, or only blank ones).
        """
        return self.demanded(query, self.invoke(query, config))

    async def aretrieve(self, query: str, config: RunnableConfig | None = None) -> list[Document]:
        """Like `retrieve`, without blocking the event loop; a retriever that is only sync runs in a thread."""
        return self.demanded(query, await self.ainvoke(query, config))

    def extract_content(self, query: str) -> str | None:
        """The texts `retrieve` gives, joined by blank lines; `None` where it gives none."""
        return _joined(self.retrieve(query))

    async def aextract_content(self, query: str) -> str | None:
        """Like `extract_content`, without blocking the event loop."""
        return _joined(await self.aretrieve(query))

    def get_most_relevant_doc(self, query: str) -> Document | None:
        """The first passage `retrieve` gives; `None` where it gives none."""
        return next(iter(self.retrieve(query)), None)

    async def aget_most_relevant_doc(self, query: str) -> Document | None:
        """Like `get_most_relevant_doc`, without blocking the event loop."""
        return next(iter(await self.aretrieve(query)), None)

    def demanded(self, query: str, documents: list[Document]) -> list[Document]:
        """What was found for a query, after `on_empty` has had its say; for callers that ran `invoke` themselves.

        Raises:
            RetrievalError: There is no passage, or only blank ones, and `on_empty="error"`.
        """
        if any(document.page_content.strip() for document in documents):
            return documents
        if self.on_empty == "ungrounded":
            return []
        what = f"only {len(documents)} blank passages" if documents else "nothing"
        raise RetrievalError(
            f"the retriever {self._label} found {what} for {shown(query)}; a grounded verdict needs passages, or give "
            "RAGProvider(…, on_empty='ungrounded') to judge by the model's own knowledge",
            query=query,
        )

    @property
    def _label(self) -> str:
        return str(getattr(self.retriever, "__name__", type(self.retriever).__name__))

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        wanted = k or self.k
        try:
            found = _search(self.retriever, query, {"callbacks": run_manager.get_child()}, wanted)
            return as_documents(found)[:wanted]
        except Exception as error:
            raise self._failed(query, error) from error

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        wanted = k or self.k
        try:
            found = await _asearch(self.retriever, query, {"callbacks": run_manager.get_child()}, wanted)
            return as_documents(found)[:wanted]
        except Exception as error:
            raise self._failed(query, error) from error

    def _failed(self, query: str, error: Exception) -> RetrievalError:
        # Only our own words: the retriever's may hold an address with a password.
        told = str(error) if isinstance(error, InputError) else f"it raised {type(error).__name__} (see the cause)"
        return RetrievalError(f"the retriever {self._label} failed for {shown(query)}: {told}", query=query)


def as_provider(rag: Any) -> RAGProvider:
    """A `RAGProvider` as it is, any other retriever wrapped in one.

    Raises:
        ConfigError: It cannot be searched.
    """
    return rag if isinstance(rag, RAGProvider) else RAGProvider(rag)


def _joined(documents: list[Document]) -> str | None:
    return "\n\n".join(document.page_content for document in documents) or None


_METHODS = ("invoke", "ainvoke", "get_relevant_documents", "aget_relevant_documents")


def _check_searchable(retriever: Any) -> None:
    known = isinstance(retriever, VectorStore) or any(callable(getattr(retriever, name, None)) for name in _METHODS)
    if isinstance(retriever, type) or not (known or callable(retriever)):
        raise ConfigError(
            f"{shown(retriever)} is no retriever; give a LangChain retriever, a vector store, a Runnable or callable "
            "from text to documents, or an object with invoke or get_relevant_documents"
        )


def _method(retriever: Any, *names: str) -> Callable[..., Any] | None:
    return next((method for name in names if callable(method := getattr(retriever, name, None))), None)


def _runnable(retriever: Any, k: int | None) -> Runnable[str, Any] | None:
    if isinstance(retriever, VectorStore):
        return retriever.as_retriever(search_kwargs={"k": k} if k else {})
    return retriever if isinstance(retriever, Runnable) else None


def _search(retriever: Any, query: str, config: RunnableConfig, k: int | None) -> Any:
    runnable = _runnable(retriever, k)
    if runnable is not None:
        return runnable.invoke(query, config)
    search = _method(retriever, "invoke", "get_relevant_documents") or retriever
    if not callable(search) or inspect.iscoroutinefunction(search):
        raise InputError("it is async only; use ainvoke, aevaluate or aretrieve")
    return search(query)


async def _asearch(retriever: Any, query: str, config: RunnableConfig, k: int | None) -> Any:
    runnable = _runnable(retriever, k)
    if runnable is not None:
        return await runnable.ainvoke(query, config)
    search = _method(retriever, "ainvoke", "aget_relevant_documents", "invoke", "get_relevant_documents") or retriever
    found = await search(query) if inspect.iscoroutinefunction(search) else await run_in_executor(None, search, query)
    return await found if inspect.isawaitable(found) else found
