"""Uses that type checkers must refuse, each on the line that says so."""

import tripcoil

guard = tripcoil.breaker("stock")
tripcoil.breaker("stock", treshold=0.5)  # wrong
tripcoil.breaker("stock", threshold="half")  # wrong
tripcoil.breaker(5)  # wrong
tripcoil.breaker("stock", record="ConnectionError")  # wrong
tripcoil.Rule("stock", strategy="error_ratio", threshold=0.5)  # wrong
tripcoil.Rule("stock", strategy="error_ratio", threshold=0.5, retry_timeout="10s")  # wrong


@guard
def fetch(sku: str) -> int:
    return len(sku)


@guard
async def later(sku: str) -> int:
    return len(sku)


fetch(5)  # wrong
fetch("a", "b")  # wrong
guard.call(fetch, 5)  # wrong
guard(5)  # wrong
text: str = fetch("a")  # wrong
number: int = later("a")  # wrong
with guard as entry:
    entry.exit(5)  # wrong
tripcoil.resource("stock").set_mode(5)  # wrong
tripcoil.trace("error")  # wrong
tripcoil.observe(lambda: None)  # wrong
tripcoil.load_rules(5)  # wrong
