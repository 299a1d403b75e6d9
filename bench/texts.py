"""Texts to measure with."""


def long_text(lines: int) -> str:
    """Source code so to say: all lines differ, some are blank, none is special."""
    return "".join(
        "\n" if number % 10 == 0 else f"    value_{number} = compute({number}, scale=1.5)  # item\n"
        for number in range(lines)
    )
