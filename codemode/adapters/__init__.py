"""The two tools in other agent frameworks. Each module needs its framework, and says how to install it.

- `codemode.adapters.langchain`: LangChain tools, and a middleware for `create_agent`
- `codemode.adapters.pydantic_ai`: a pydantic-ai capability
- `codemode.adapters.openai_agents`: tools for the OpenAI Agents SDK
- `codemode.adapters.fastmcp`: a FastMCP transform
"""
