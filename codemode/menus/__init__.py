"""Menus: a small selection of tools per message, for models that cannot write code."""

from codemode.menus.menu import Menu, MenuCost, MenuEntry, Reason
from codemode.menus.meta_tools import MetaAnswer
from codemode.menus.session import MenuSession

__all__ = ["Menu", "MenuCost", "MenuEntry", "MenuSession", "MetaAnswer", "Reason"]
