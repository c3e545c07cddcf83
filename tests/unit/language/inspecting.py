"""The tests of `inspect`: what is a function, a method, a descriptor, and what belongs to the interpreter."""

import inspect


class Positive:
    def __get__(self, instance, owner=None):
        return 1

    def __set__(self, instance, value):
        pass


class Reads:
    def __get__(self, instance, owner=None):
        return 2


class Account:
    __slots__ = ("owner",)

    @property
    def total(self):
        return 3

    def close(self):
        yield


TESTS = """
    isasyncgen isasyncgenfunction isawaitable isbuiltin isclass iscoroutine iscoroutinefunction
    isdatadescriptor isfunction isgenerator isgeneratorfunction ismethod ismethoddescriptor ismodule isabstract isroutine
"""
try:
    raise ValueError
except ValueError as error:
    place = error.__traceback__
values = {
    "property": Account.total,
    "member": Account.owner,
    "data descriptor": Positive(),
    "descriptor": Reads(),
    "function": Account.close,
    "method": Account().close,
    "generator": Account().close(),
    "builtin": [].append,
    "method of a class": str.upper,
    "class": Account,
    "module": inspect,
    "traceback": place,
    "number": 1,
}
for what, value in values.items():
    print(what, [name for name in TESTS.split() if getattr(inspect, name)(value)])
