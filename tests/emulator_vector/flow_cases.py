"""Instructions of the SIMD unit between a load and a store; see ``test_flow``."""

from __future__ import annotations

from dataclasses import dataclass

LOAD = "auto w = simd_inst::vlds_norm<{t}>({memory}, 0);"
STORE = "simd_inst::vsts_norm({result}, {out}, 0, {mask});"


@dataclass(frozen=True)
class Case:
    """``result``: what is stored. In it ``w`` is the loaded register and ``x`` another one,
    ``i`` the numbers of the lanes, and ``every`` and ``few`` are masks, all of the type ``t``.

    to: the result's type, if it is another. before: statements between load and store.
    together: any part of the result needs the late lanes.
    """

    name: str
    result: str = ""
    t: str = "float"
    to: str = ""
    load: str = LOAD
    before: str = ""
    store: str = STORE
    together: bool = False


def call(name: str, arguments: str, t: str = "float", *, together: bool = False) -> Case:
    return Case(f"{name} {t}", f"simd_inst::{name}({arguments})", t, together=together)


def loaded(name: str, offset: int, t: str, *, together: bool = False) -> Case:
    load = f"auto w = simd_inst::{name}<{{t}}>({{memory}}, {offset});"
    return Case(name, "w", t, load=load, together=together)


def gathered(name: str, result: str, t: str = "uint32_t") -> Case:
    return Case(name, result, t, together=True)


WORD, HALF, BYTE = "uint32_t", "half", "uint8_t"
ROUNDED = "{every}, ROUND_R, RS_ENABLE"
LESS = "vector_bool less; asc_lt(less, w, {x}, {every});"


def into(name: str, arguments: str, acc: str = "{x}") -> Case:
    before = f"auto acc = {acc}; simd_inst::{name}(&acc, {arguments}, {{every}}, MODE_ZEROING);"
    return Case(name, "acc", before=before)


def histogram(name: str, half: str) -> Case:
    before = (
        "auto acc = simd_inst::vdup<uint16_t>(uint16_t(0), {every}, MODE_ZEROING);"
        f" simd_inst::{name}(&acc, w, {{every}}, {half});"
    )
    return Case(f"{name} {half}", "acc", BYTE, "uint16_t", before=before, together=True)


ARITHMETIC = (
    Case("no instruction", "w"),
    *(
        call(name, "{x}, w, {every}, MODE_ZEROING")
        for name in ("vadd", "vsub", "vmul", "vdiv", "vmax", "vmin", "vabsdif")
    ),
    *(
        call(name, "w, 2.0f, {every}, MODE_ZEROING")
        for name in ("vadds", "vmuls", "vmaxs", "vmins")
    ),
    *(
        call(name, "w, {every}, MODE_ZEROING")
        for name in ("vabs", "vneg", "vrelu", "vexp", "vln", "vsqrt")
    ),
    *(
        call(name, "w, {x}, {every}, MODE_ZEROING", WORD)
        for name in ("vand", "vor", "vxor", "vshl", "vshr")
    ),
    call("vnot", "w, {every}, MODE_ZEROING", "uint16_t"),
    call("vshls", "w, 3, {every}, MODE_ZEROING", "int16_t"),
    call("vdiv_0ulp_ftz_true", "w, {x}, {every}, MODE_ZEROING"),
    call("vexp_1ulp_ftz_false", "w, {every}, MODE_ZEROING"),
    call("vln_1ulp_ftz_false", "w, {every}, MODE_ZEROING"),
    call("vsqrt_0ulp_ftz_false", "w, {every}, MODE_ZEROING"),
    call("vlrelu", "w, 0.5f, {every}"),
    call("vprelu", "{x}, w, {every}"),
    call("vexpdif", "w, {x}, {every}"),
    call("vsel", "w, {x}, {every}"),
    call("vsel", "{x}, w, {few}", HALF),
    Case("merged", "simd_inst::vadds(w, {x}, 1.0f, {few}, MODE_MERGING)"),
    into("vmula", "w, {x}"),
    into("vmadd", "{x}, w"),
    into("vmadd", "{x}, {x}", acc="w"),
    Case(
        "vaxpy",
        "acc",
        before="auto acc = w; simd_inst::vaxpy(&acc, {x}, 2.0f, {every}, MODE_ZEROING);",
    ),
    *(Case(n, f"simd_inst::{n}(w, {{x}}, {{every}}).v1", WORD) for n in ("vaddc", "vsubc")),
    Case("vmull", "simd_inst::vmull({x}, w, {every}).v1", WORD),
    Case(
        "the carry of vaddc",
        "simd_inst::vsel({x}, {x}, simd_inst::vaddc(w, {x}, {every}).v0)",
        WORD,
    ),
)
CHOICES = (
    Case("a comparison", "simd_inst::vsel({x}, {x}, less)", before=LESS),
    Case(
        "a comparison with a number",
        "simd_inst::vsel({x}, {x}, less)",
        before="vector_bool less; asc_gt_scalar(less, w, 1.0f, {every});",
    ),
    Case("pand", "simd_inst::vsel({x}, {x}, simd_inst::pand({every}, less, {every}))", before=LESS),
    Case("pnot", "simd_inst::vsel({x}, {x}, simd_inst::pnot(less, {every}))", before=LESS),
    Case("psel", "simd_inst::vsel({x}, {x}, simd_inst::psel({every}, less, {few}))", before=LESS),
    Case(
        "ppack",
        "simd_inst::vsel({x}, {x}, simd_inst::ppack(less, LOWER))",
        before=LESS,
        together=True,
    ),
    Case(
        "a stored predicate",
        before=LESS,
        store="asc_storealign((__ubuf__ uint32_t*){out}, less, 0);",
        together=True,
    ),
    Case(
        "a mask of a store",
        before=LESS,
        store="simd_inst::vsts_norm({x}, {out}, 0, less);",
        together=True,
    ),
)
CONVERSIONS = (
    Case(
        "vcvt to wider",
        "simd_inst::vcvt<float>(w, {every}, PART_EVEN, MODE_ZEROING)",
        HALF,
        "float",
    ),
    Case(
        "vcvt to narrower",
        f"simd_inst::vcvt<bfloat16_t>(w, {ROUNDED}, PART_ODD, MODE_ZEROING)",
        "float",
        "bfloat16_t",
    ),
    Case(
        "vcvt to a quarter",
        f"simd_inst::vcvt<float8_e4m3_t>(w, {ROUNDED}, PART_P2, MODE_ZEROING)",
        "float",
        "float8_e4m3_t",
    ),
    Case("vpack", "simd_inst::vpack<uint16_t>(w, HIGHER)", WORD, "uint16_t"),
    Case("vunpack", "simd_inst::vunpack(w, HIGHER)", BYTE, "uint16_t"),
)
MOVES = (
    Case("vintlv", "simd_inst::vintlv(w, {x}).v1"),
    Case("vdintlv", "simd_inst::vdintlv({x}, w).v0"),
    gathered("vdupv", "simd_inst::vdupv(w, {every}, POS_HIGHEST, MODE_ZEROING)"),
    *(
        gathered(name, f"simd_inst::{name}(w, {{every}}, MODE_ZEROING)", "float")
        for name in ("vcadd", "vcmax", "vcmin", "vcgadd", "vcgmax", "vcgmin", "vcpadd")
    ),
    gathered("vsqz", "simd_inst::vsqz(w, {every}, MODE_NO_STORED)"),
    Case("vusqz", "simd_inst::vusqz<uint32_t>(less)", WORD, before=LESS, together=True),
    gathered("vselr", "simd_inst::vselr(w, {i})"),
    gathered("an index of vselr", "simd_inst::vselr({x}, w)"),
    gathered("an index of vgather2", "simd_inst::vgather2<uint32_t>({base}, w, {every})"),
    *(histogram(name, half) for name in ("dhistv2", "chistv2") for half in ("Bin_N0", "Bin_N1")),
)
LOADS = (
    Case(
        "vld_x2",
        "w.v0",
        load="auto w = simd_inst::vld_x2<float>({memory}, 0, DINTLV_B32);",
        together=True,
    ),
    loaded("vlds_downsample", 0, HALF, together=True),
    loaded("vlds_upsample", 48, HALF),
    loaded("vlds_unpack", 48, HALF),
    loaded("vlds_unpack4", 160, BYTE),
    loaded("vlds_brc_elem", 50, "float", together=True),
    loaded("vlds_brc_datablock", 48, "float", together=True),
    loaded("vlds_brc_elem2datablock", 48, "float", together=True),
)
STORES = (
    Case("vscatter", t=WORD, store="simd_inst::vscatter(w, {out}, {i}, {mask});"),
    Case("an index of vscatter", t=WORD, store="simd_inst::vscatter({x}, {out}, w, {mask});"),
    Case("vsstb", store="simd_inst::vsstb(w, {out}, 1 << 16, {mask});"),
    Case("vsts_pack_b32", t=WORD, store="simd_inst::vsts_pack_b32(w, {out}, 0, {mask});"),
    Case(
        "vsts_1st",
        store="simd_inst::vsts_1st(simd_inst::vdupv(w, {every}, POS_HIGHEST,"
        " MODE_ZEROING), {out}, 0, {mask});",
        together=True,
    ),
)
CASES = ARITHMETIC + CHOICES + CONVERSIONS + MOVES + LOADS + STORES
