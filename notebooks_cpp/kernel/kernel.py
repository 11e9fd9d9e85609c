"""The Jupyter kernel of attention.cpp: hands cells to clang-repl, and what they print and draw to Jupyter.

Jupyter and its kernels are Python, so this file is, too; all that can be C++ is in checkpoint.cpp. checkpoint.hpp
explains how a cell that fails, crashes or is interrupted leaves everything as it was, and the messages.
"""

import base64
import collections
import difflib
import os
import re
import selectors
import signal
import subprocess
import tempfile
from pathlib import Path

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

ROOT = Path(__file__).resolve().parents[2]
MARK = "\x1e"
# What clang-repl cannot compile it still runs in part, together with the next statement. So the end of a cell is not
# a statement but a library that does not exist: the error message about it marks the end.
END = "end-of-cell"


class CellError(Exception):
    def __init__(self, name, message, details=""):
        super().__init__(message)
        self.name, self.details = name, details or f"{name}: {message}"


class Repl:
    """A clang-repl and its copies. `cells` are those that have passed: (number, source, process that ran it)."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="attention-cpp-")
        self.cells = []
        self.inputs = 0
        self.latest = collections.deque(maxlen=5)  # lines of standard error
        flags = ["-std=c++20", "-O2", "-fopenmp", "-fkeep-static-consts", f"-I{ROOT}", "-fno-color-diagnostics"]
        self.process = subprocess.Popen(
            [os.environ.get("CLANG_REPL", "clang-repl-19"), *(f"-Xcc={flag}" for flag in flags)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT,
            env=dict(os.environ, ATTN_NOTEBOOK="1"), start_new_session=True)
        self.selector = selectors.DefaultSelector()
        self.unfinished = {"stdout": b"", "stderr": b""}
        for stream in self.unfinished:
            self.selector.register(getattr(self.process, stream), selectors.EVENT_READ, stream)
        self.send(f"%lib {ROOT}/build/libattn.so", '#include "notebooks_cpp/kernel/checkpoint.hpp"',
                  "attn::kernel::start();", f"%lib {END}")
        if MARK + "started" not in [line for _, line in iter(self.lines().__next__, ("stderr", MARK + "end"))]:
            raise EOFError("clang-repl does not start: " + " ".join(self.latest))

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.folder.cleanup()

    def send(self, *lines):
        self.process.stdin.write("".join(line + "\n" for line in lines).encode())
        self.process.stdin.flush()

    def lines(self):
        """The output of clang-repl, as (stream, line). Messages to us begin with MARK."""
        while True:
            for key, _ in self.selector.select():
                stream, data = key.data, os.read(key.fd, 1 << 16)
                if not data:
                    raise EOFError("clang-repl ended: " + " ".join(self.latest))
                *lines, self.unfinished[stream] = (self.unfinished[stream] + data).split(b"\n")
                for line in lines:
                    line = re.sub(f"error: {END}.*", MARK + "end", line.decode(errors="replace"))
                    text, mark, words = line.partition(MARK)
                    if text or not mark:
                        if stream == "stderr":
                            self.latest.append(text)
                        yield stream, text if mark else text + "\n"
                    if mark:
                        yield stream, MARK + words

    def wait_for(self, *words):
        """Skips output until one of these words has come on both streams; returns what follows it."""
        waiting = set(self.unfinished)
        for stream, line in self.lines():
            word, _, rest = line.partition(" ")
            if word in [MARK + word for word in words]:
                waiting.discard(stream)
                if not waiting:
                    return rest

    def back_to(self, count):
        """The state after the first `count` cells."""
        while len(self.cells) > count:
            os.kill(self.cells.pop()[2], signal.SIGKILL)
            self.wait_for("back")  # now it has ended, and will not read what we send next

    def run(self, number, source, show):
        """Runs a cell; show(kind, text) gets what it prints and draws. Raises CellError."""
        before = len(self.cells)
        self.send("attn::kernel::checkpoint();")
        answer = self.wait_for("ready", "back")
        if not answer.isdigit():
            raise CellError("Checkpoint", answer)
        self.cells.append((number, source, int(answer)))
        try:
            for line, piece in pieces(source):
                self.run_piece(number, line, piece, show)
        except CellError:
            self.back_to(before)
            raise
        except KeyboardInterrupt:
            self.back_to(before)
            raise CellError("Interrupted", "everything is as it was before this cell") from None

    def run_piece(self, number, line, source, show):
        self.inputs += 1
        path = Path(self.folder.name, f"input_{self.inputs}.cpp")
        path.write_text(f'const bool running_{self.inputs} = attn::kernel::running();\n'
                        f'#line {line} "In [{number}]"\n{source}\n'
                        f'#line 1 "end of [{number}]"\nattn::kernel::passed();\n')
        self.send(f'#include "{path}"', f"%lib {END}")
        compiler, thrown, message = "", "", ""
        stage = {"stdout": "", "stderr": ""}
        passed = False
        for stream, line in self.lines():
            word, _, rest = line[1:].strip().partition(" ") if line.startswith(MARK) else ("", "", "")
            if word == "picture":
                show("picture", rest)
            elif stage[stream] == "back":
                continue  # the earlier process has taken over, and reads the end of this cell in its place
            elif word:
                stage[stream] = word
                if stream == "stderr":
                    passed = passed or word == "passed"
                    thrown = rest if word == "threw" else thrown
                    if word == "running" and compiler:
                        show("stderr", only_ours(compiler))  # warnings
            elif stream == "stderr" and stage[stream] == "":
                compiler += line
                if line.startswith("fatal error: too many errors"):  # it may never end, see only_ours
                    break
            elif stream == "stderr" and stage[stream] == "threw":
                message += line
            else:
                show(stream, line)
            if stage["stderr"] == "end" and (not passed or stage["stdout"] == "passed"):
                break
            if stage["stderr"] == stage["stdout"] == "back":
                self.cells.pop()
                if thrown:
                    raise CellError(thrown, message.strip())
                raise CellError("Crash", f"{rest}; everything is as it was before this cell", only_ours(compiler))
        if not passed:
            compiler = only_ours(compiler)
            first = re.search(r"error: (.*)", compiler, re.IGNORECASE)
            raise CellError("CompileError", first[1] if first else "clang-repl could not compile the cell", compiler)

    def cell_that_ran_before(self, source, error):
        """The position in `cells` of an older version of a cell that declares its names again, or None."""
        if error.name != "CompileError" or "redefinition" not in error.details:
            return None
        numbers = [int(n) for n in re.findall(r"In \[(\d+)\]:.*note: previous definition", error.details)]
        for place, (number, older, _) in enumerate(self.cells):
            if number in numbers and difflib.SequenceMatcher(None, older, source, autojunk=False).ratio() > 0.5:
                return place
        return None


def pieces(source):
    """The cell, cut before each constant, as (line number, text).

    clang-repl 19 creates the constants of an input before everything else in it, whatever their order: see LLVM pull
    request 65257. So a constant has to come first in its input.
    """
    lines = source.splitlines(True)
    starts = [i for i, line in enumerate(lines) if i == 0 or re.match(r"(static )?const\b", line)]
    return [(start + 1, "".join(lines[start:end])) for start, end in zip(starts, starts[1:] + [None])]


def only_ours(diagnostics):
    """Without the lines on how the cell reached the compiler.

    When a brace is missing, clang-repl 19 reads its own end of input again and again.
    """
    noise = re.compile(r"In file included from (input_line_\d+|<<< inputs >>>):|<<< inputs >>>:1:1: error|"
                       r"error: Parsing failed|fatal error: too many errors")
    ours = "".join(line for line in diagnostics.splitlines(True) if not noise.match(line))
    unfinished = "<<< inputs >>>:1:1: error" in diagnostics
    return "error: the cell ends too early: is a } missing?\n" + ours if unfinished else ours


class AttentionKernel(Kernel):
    implementation = "attention-cpp"
    implementation_version = "1.0"
    banner = "C++20 on clang-repl, with the library of attention.cpp"
    language_info = {"name": "c++", "version": "20", "mimetype": "text/x-c++src", "file_extension": ".cpp",
                     "codemirror_mode": "text/x-c++src", "pygments_lexer": "cpp"}
    repl = None

    def show(self, kind, text):
        if kind == "picture":
            path, _, caption = text.partition("\t")
            image = base64.b64encode(Path(path).read_bytes()).decode()
            self.display({"image/png": image, "text/plain": caption})
            if caption:
                self.display({"text/markdown": f"*{caption}*", "text/plain": caption})
        else:
            self.send_response(self.iopub_socket, "stream", {"name": kind, "text": text})

    def display(self, data):
        self.send_response(self.iopub_socket, "display_data", {"data": data, "metadata": {}})

    def run(self, source, show):
        self.repl = self.repl or Repl()
        try:
            self.repl.run(self.execution_count, source, show)
        except CellError as error:
            place = self.repl.cell_that_ran_before(source, error)
            if place is None:
                raise
            later = [f"[{number}]" for number, _, _ in self.repl.cells[place + 1:]]
            if later:
                show("stderr", f"This cell ran before: back to that moment. Run again: {', '.join(later)}\n")
            self.repl.back_to(place)
            self.repl.run(self.execution_count, source, show)

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False):
        try:
            if code.strip():
                self.run(code, (lambda kind, text: None) if silent else self.show)
            return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}
        except CellError as error:
            content = {"ename": error.name, "evalue": str(error), "traceback": error.details.splitlines()}
        except (EOFError, OSError) as error:
            self.stop()
            message = f"{error}\nclang-repl starts again: run the cells from the top."
            content = {"ename": "Crash", "evalue": message, "traceback": message.splitlines()}
        self.send_response(self.iopub_socket, "error", content)
        return {"status": "error", "execution_count": self.execution_count, **content}

    def stop(self):
        if self.repl:
            self.repl.close()
        self.repl = None

    def do_shutdown(self, restart):
        self.stop()
        return {"status": "ok", "restart": restart}


if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=AttentionKernel)
