"""A Flask application under load: flask_app.py LOG SECONDS

Served in this process; LOG gets the times (CLOCK_MONOTONIC, ns) from the first request to the last, and
how many there were.
"""
import hashlib
import pathlib
import sys
import time

import flask

import load

app = flask.Flask(__name__, template_folder=str(pathlib.Path(__file__).parent / "templates"))
app.logger.disabled = True


@app.route("/")
def index():
    rows = [{"name": f"thing {i}", "price": i % 100} for i in range(150)]
    return flask.render_template("page.html", title="Things", rows=rows)


@app.route("/numbers/<int:count>")
def numbers(count):
    total = 0
    for i in range(count):
        total += i * i
    return flask.jsonify(total=total, values=list(range(100)))


@app.route("/signed/<name>")
def signed(name):
    return sign(name, 30)


def sign(name, depth):
    if depth:
        return sign(hashlib.sha256(name.encode()).hexdigest(), depth - 1)
    return name


@app.errorhandler(404)
def missing(error):
    return flask.render_template("page.html", title=str(error), rows=[]), 404


load.run(app, ["/", "/numbers/3000", "/signed/hello", "/absent"], sys.argv[1], float(sys.argv[2]))
