"""A kernel's dependences as Graphviz text."""

from __future__ import annotations

from .deps import Dependences, Edge

_COLORS = {"RAW": "black", "WAR": "gray40", "WAW": "gray40", "exclusion": "red"}


def graphviz(kernels: tuple[Dependences, ...]) -> str:
    """One directed graph; each body is a cluster inside that of the body around it.

    Edges from one iteration to a later one are dashed and carry the distance.
    """
    lines = ["digraph dependences {", "  node [shape=box, fontname=monospace];"]
    for number, kernel in enumerate(kernels):
        lines += _cluster(kernel, number, 0, "  ")
        for body in kernel.bodies:
            lines += [_edge(edge, number) for edge in body.edges]
    return "\n".join([*lines, "}"]) + "\n"


def _cluster(kernel: Dependences, number: int, body: int, indent: str) -> list[str]:
    lines = [
        f"{indent}subgraph cluster_{number}_{body} {{",
        f"{indent}  label={_quoted(kernel.bodies[body].name)};",
    ]
    for task, described in enumerate(kernel.tasks):
        if described.body == body:
            cost = "" if described.latency is None else f"\\n{described.pipe} {described.latency}"
            label = _quoted(described.name)[:-1] + cost + '"'
            lines.append(f"{indent}  {_node(number, task)} [label={label}];")
    for inner, described_body in enumerate(kernel.bodies):
        if described_body.parent == body:
            lines += _cluster(kernel, number, inner, indent + "  ")
    return [*lines, f"{indent}}}"]


def _edge(edge: Edge, number: int) -> str:
    label = f"{edge.kind} {edge.storage}"
    attributes = [f"color={_COLORS[edge.kind]}"]
    if edge.kind == "exclusion":
        attributes.append("dir=both")
    elif edge.distance != 0:
        label += f" +{edge.distance}"
        attributes.append("style=dashed")
    attributes.append(f"label={_quoted(label)}")
    ends = f"{_node(number, edge.source)} -> {_node(number, edge.target)}"
    return f"  {ends} [{', '.join(attributes)}];"


def _node(kernel: int, task: int) -> str:
    return f"t{kernel}_{task}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
