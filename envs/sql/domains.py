"""Business-like domains: who has what, and what happens to it. Each gives names to the same roles.

`owner` has many `thing`s, `event`s happen to things. Names and columns differ by domain, so that no
schema can be learned by heart; the foreign keys are the same.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Domain:
    """Names of tables and columns, and words for them in questions."""

    owner: str
    owner_words: str
    region: str
    regions: tuple[str, ...]
    thing: str
    thing_words: str
    kind: str
    kinds: tuple[str, ...]
    price: str
    prices: tuple[int, int]
    event: str
    event_words: str
    amount: str
    amounts: tuple[int, int]
    day: str

    def ddl(self) -> str:
        """Return the CREATE TABLE statements."""
        return "\n".join(
            f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in columns)}, "
            f"PRIMARY KEY (id){self._key(table)});"
            for table, columns in self.tables().items()
        )

    def tables(self) -> dict[str, list[tuple[str, str]]]:
        """Return the columns with their types, by table."""
        return {
            self.owner: [("id", "INT"), ("name", "VARCHAR"), (self.region, "VARCHAR")],
            self.thing: [
                *(("id", "INT"), (f"{self.owner}_id", "INT")),
                *((self.kind, "VARCHAR"), (self.price, "INT")),
            ],
            self.event: [
                *(("id", "INT"), (f"{self.thing}_id", "INT")),
                *((self.amount, "INT"), (self.day, "DATE")),
            ],
        }

    def schema(self) -> dict[str, object]:
        """Return the schema as `sql/query` reads it: columns, keys, and only `region` nullable."""
        tables = self.tables()
        return {
            "tables": {name: [list(pair) for pair in columns] for name, columns in tables.items()},
            "primary": [[f"{name}.id"] for name in tables],
            "foreign": [
                [f"{self.thing}.{self.owner}_id", f"{self.owner}.id"],
                [f"{self.event}.{self.thing}_id", f"{self.thing}.id"],
            ],
            "notnull": [
                f"{name}.{column}"
                for name, columns in tables.items()
                for column, _ in columns
                if column != self.region
            ],
        }

    def _key(self, table: str) -> str:
        parent = {self.thing: self.owner, self.event: self.thing}.get(table)
        return f", FOREIGN KEY ({parent}_id) REFERENCES {parent}(id)" if parent else ""


_TOWNS = ("Arden", "Brook", "Caster", "Dale")

DOMAINS = (
    Domain(
        owner="seller",
        owner_words="sellers",
        region="town",
        regions=_TOWNS,
        thing="product",
        thing_words="products",
        kind="category",
        kinds=("tools", "toys", "books"),
        price="price",
        prices=(5, 90),
        event="sale",
        event_words="sales",
        amount="quantity",
        amounts=(1, 9),
        day="sold_on",
    ),
    Domain(
        owner="clinic",
        owner_words="clinics",
        region="district",
        regions=_TOWNS,
        thing="doctor",
        thing_words="doctors",
        kind="field",
        kinds=("heart", "skin", "eyes"),
        price="fee",
        prices=(40, 300),
        event="visit",
        event_words="visits",
        amount="minutes",
        amounts=(5, 60),
        day="held_on",
    ),
    Domain(
        owner="airline",
        owner_words="airlines",
        region="country",
        regions=("Norway", "Chile", "Kenya"),
        thing="plane",
        thing_words="planes",
        kind="model",
        kinds=("jet", "prop", "heavy"),
        price="seats",
        prices=(20, 400),
        event="flight",
        event_words="flights",
        amount="distance",
        amounts=(100, 9000),
        day="left_on",
    ),
    Domain(
        owner="library",
        owner_words="libraries",
        region="town",
        regions=_TOWNS,
        thing="book",
        thing_words="books",
        kind="genre",
        kinds=("crime", "verse", "travel"),
        price="pages",
        prices=(80, 900),
        event="loan",
        event_words="loans",
        amount="days",
        amounts=(1, 40),
        day="lent_on",
    ),
    Domain(
        owner="farm",
        owner_words="farms",
        region="valley",
        regions=("North", "South", "East"),
        thing="field",
        thing_words="fields",
        kind="crop",
        kinds=("oats", "beets", "hay"),
        price="hectares",
        prices=(1, 80),
        event="harvest",
        event_words="harvests",
        amount="tonnes",
        amounts=(1, 500),
        day="cut_on",
    ),
    Domain(
        owner="studio",
        owner_words="studios",
        region="city",
        regions=_TOWNS,
        thing="course",
        thing_words="courses",
        kind="style",
        kinds=("yoga", "dance", "boxing"),
        price="fee",
        prices=(5, 60),
        event="booking",
        event_words="bookings",
        amount="guests",
        amounts=(1, 6),
        day="booked_on",
    ),
    Domain(
        owner="depot",
        owner_words="depots",
        region="region",
        regions=("North", "South", "West"),
        thing="truck",
        thing_words="trucks",
        kind="make",
        kinds=("Orlo", "Vint", "Kasa"),
        price="capacity",
        prices=(2, 40),
        event="trip",
        event_words="trips",
        amount="load_t",
        amounts=(1, 40),
        day="driven_on",
    ),
    Domain(
        owner="bank",
        owner_words="banks",
        region="country",
        regions=("Norway", "Chile", "Kenya"),
        thing="account",
        thing_words="accounts",
        kind="tier",
        kinds=("basic", "plus", "gold"),
        price="balance",
        prices=(0, 9000),
        event="transfer",
        event_words="transfers",
        amount="amount",
        amounts=(1, 900),
        day="made_on",
    ),
)
