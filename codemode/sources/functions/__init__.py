"""Python functions, LangChain tools and tool objects as sources."""
