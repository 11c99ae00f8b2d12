"""`python -m langchain_llm_judge.cli`."""

from langchain_llm_judge.cli import main

if __name__ == "__main__":
    main()
