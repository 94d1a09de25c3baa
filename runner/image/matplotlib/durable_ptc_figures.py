"""The backend of matplotlib in a sandbox, which has no screen: `show()` writes each figure to /tmp/out as a PNG.

The files are figure-1.png, figure-2.png and so on, in the order in which they are shown, so that a repeated program
writes the same files again. As in a notebook, a shown figure is closed.
"""

import os

from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib._pylab_helpers import Gcf

FOLDER = "/tmp/out"


class FigureManager(FigureManagerBase):
    def show(self):
        _write(self.canvas.figure)

    @classmethod
    def pyplot_show(cls, *, block=None):
        for manager in Gcf.get_all_fig_managers():
            manager.show()
        Gcf.destroy_all()


class FigureCanvas(FigureCanvasAgg):
    manager_class = FigureManager


def show(*, block=None):
    FigureManager.pyplot_show(block=block)


def _write(figure):
    os.makedirs(FOLDER, exist_ok=True)
    number = 1
    while True:
        try:
            file = open(os.path.join(FOLDER, f"figure-{number}.png"), "xb")
            break
        except FileExistsError:
            number += 1
    with file:
        figure.savefig(file, format="png", bbox_inches="tight")
