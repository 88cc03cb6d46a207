"""How records are found again."""

from .records import SIZE, Record, block, in_image, parse

A, B = Record("1-node-a", "log", 1), Record("1-node-b", "log", 1)


def test_a_record_is_read_as_it_was_written():
    assert len(block(A)) == SIZE and parse(block(A)) == A
    assert parse(bytes(SIZE)) is None and parse(block(A)[:-1]) is None


def test_half_of_another_is_none():
    newer = Record(A.owner, A.file, 2)
    assert parse(block(newer)[: SIZE // 2] + block(A)[SIZE // 2 :]) is None


def test_those_of_an_owner_are_found_wherever_they_are(tmp_path):
    image, found = tmp_path / "image", [A, A._replace(file="register"), A._replace(number=2)]
    with open(image, "wb") as file:
        file.truncate(64 * 1024 * SIZE)
        for offset, record in zip((0, 77 * SIZE + 512, 64 * 1024 * SIZE - SIZE), found, strict=True):
            file.seek(offset)
            file.write(block(record))
        for offset, data in ((4 * SIZE, block(B)), (8 * SIZE, block(A._replace(number=3))[: SIZE // 2])):
            file.seek(offset)
            file.write(data)
    assert in_image(image, A.owner) == set(found)
