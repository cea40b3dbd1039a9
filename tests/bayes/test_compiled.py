"""Compiled functions: one machine code of each, whether a process compiled it or loaded it."""

import re
import sys

import numpy as np
import pytest
from numba import njit
from numba.core.dispatcher import Dispatcher

from analysis.bayes import belief_bias_program, callback, incoherence_program, measurement, warm
from analysis.bayes.compiled import compiled


def calls(library):
    """Own functions that machine code calls, which a process may find in more than one version."""
    blocks = [block for function in library._get_module_for_linking().functions for block in function.blocks]
    found = [str(i) for block in blocks for i in block.instructions if i.opcode == "call"]
    return {name for one in found for name in re.findall(r"@\"?(?:cfunc\.)?(_ZN(?:8analysis|5tests)\w*)", one)}


@pytest.mark.parametrize("program", [belief_bias_program, callback, incoherence_program, measurement])
def test_a_program_calls_itself_alone(program):
    """Catches draws that differ between the run that compiles and all later ones: 124 of 2,599 slopes did."""
    assert {name for name in calls(program._density._library) if "8_density" not in name} == set()


def test_functions_that_python_calls_are_of_one_piece():
    """Catches the same in what is computed of draws."""
    warm.main()
    seen = 0
    for module in [module for name, module in sys.modules.items() if name.startswith("analysis.bayes.")]:
        for name, function in vars(module).items():
            if isinstance(function, Dispatcher) and function.py_func.__module__ == module.__name__:
                for overload in function.overloads.values():
                    seen += 1
                    assert {one for one in calls(overload.library) if f"{len(name)}{name}" not in one} == set(), name
    assert seen >= 8


def test_a_function_becomes_part_of_its_caller_only_if_it_is_told_to():
    """Catches a check of this file that sees no calls, and a decorator without effect."""

    def ordered(x):
        return np.sort(x)[0] + np.median(x)

    for decorate, seen in ((njit, True), (compiled(), False)):
        inner = decorate(ordered)
        outer = njit(lambda x, inner=inner: inner(x) + inner(x[1:]))
        assert outer(np.ones(4)) == 4
        (overload,) = outer.overloads.values()
        assert any("_3e7ordered" in name for name in calls(overload.library)) == seen
