"""Names and things that the pages are filled with."""

GIVEN = (
    "Mara", "Tomas", "Ines", "Oskar", "Lena", "Ravi", "Sofia", "Piet", "Amina", "Jonas", "Clara", "Yusuf",
    "Edda", "Marek", "Nora", "Hugo", "Selma", "Idris", "Greta", "Pavel",
)  # fmt: skip
FAMILY = (
    "Keldon", "Varga", "Osei", "Lindqvist", "Moreau", "Tanaka", "Brandt", "Costa", "Novak", "Haddad",
    "Fischer", "Okafor", "Rossi", "Dahl", "Pereira", "Kowal", "Meyer", "Santos", "Holm", "Iversen",
)  # fmt: skip
STREETS = (
    "Mill Lane",
    "Harbour Road",
    "Orchard Street",
    "Castle Hill",
    "Station Road",
    "Elm Avenue",
)
TOWNS = ("Westbrook", "Ashford", "Lindau", "Marlow", "Tarn", "Velden", "Corby", "Haslev")
VENDORS = (
    "Brandt Ltd",
    "Costa and Sons",
    "Dahl Paper",
    "Holm Electric",
    "Kowal Foods",
    "Meyer Glass",
)
ROOMS = ("Birch", "Cedar", "Elm", "Hazel", "Maple", "Oak", "Pine", "Rowan")
TOPICS = ("Budget", "Hiring", "Roadmap", "Safety", "Training", "Supplies", "Press", "Audit")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
