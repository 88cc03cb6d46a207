"""docs/custom-resources.md, from the custom resource definitions of the chart."""

from api.crd import Definition, Field, definitions

from .markdown import code, codes, page, sentence, table

HEAD = """\
Custom resources of the driver, in group `disk.csi.azure.com/v1beta2` and namespace `azure-disk-csi` (the chart's
`driver.objectNamespace`). Names and meanings are those of the Azure Disk CSI driver V2. The objects record the desired and
the observed state; Azure is authoritative. To list all of them, run

    kubectl get azuredisk -n azure-disk-csi

In the tables, a field marked with * is required, and `[]` stands for each entry of a list.
"""


def _range(field: Field) -> str:
    least, most = field.schema.get("minimum"), field.schema.get("maximum")
    if most is not None:
        return f"{least} to {most}"
    return f"{least} or more" if least else ""


def _values(field: Field) -> str:
    if field.values:
        return codes('""' if value == "" else value for value in field.values)
    return _range(field)


def _row(field: Field) -> list[str]:
    kind = "time" if field.schema.get("format") == "date-time" else field.type
    name = code(field.path) + ("*" if field.required else "")
    return [name, kind, _values(field), field.schema["description"]]


def _section(definition: Definition) -> list[str]:
    short = codes(definition.names["shortNames"])
    columns = [[column["name"], code(column["jsonPath"]), "only with `-o wide`" if column.get("priority") else ""]
               for column in definition.columns]
    return [
        f"## {definition.kind}\n",
        f"{sentence(definition.schema['description'])} Use `kubectl get {definition.plural}`, or {short} for short.\n",
        table(["field", "type", "values", "meaning"], map(_row, definition.fields().values())),
        "Columns of `kubectl get`:\n",
        table(["column", "field", ""], columns),
    ]


def text() -> str:
    return page("Custom resources", HEAD, *(part for d in definitions() for part in _section(d)))
