"""Maps as expressions see them."""

from .shown import cut


class Dotted(dict):
    """A map whose entries are also attributes, so that expressions can say response.content[0].text."""

    def __getattribute__(self, name):
        if dict.__contains__(self, name):
            return self[name]
        try:
            return dict.__getattribute__(self, name)
        except AttributeError:
            raise AttributeError(f"there is no {name!r} here, only {cut(', '.join(map(str, self)) or 'nothing', 300)}") from None


def dotted(value):
    if type(value) is dict:
        return Dotted((key, dotted(each)) for key, each in value.items())
    return [dotted(each) for each in value] if type(value) is list else value
