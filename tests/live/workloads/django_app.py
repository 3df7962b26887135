"""A Django application under load, as flask_app.py: django_app.py LOG SECONDS"""
import hashlib
import pathlib
import sys

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.shortcuts import render
from django.urls import path

import load

settings.configure(
    ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="none", LOGGING_CONFIG=None,
    MIDDLEWARE=["django.middleware.common.CommonMiddleware", "django.middleware.csrf.CsrfViewMiddleware"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [str(pathlib.Path(__file__).parent / "templates")]}])
django.setup()


def index(request):
    rows = [{"name": f"thing {i}", "price": i % 100} for i in range(100)]
    return render(request, "page.html", {"title": "Things", "rows": rows})


def numbers(request, count):
    total = 0
    for i in range(count):
        total += i * i
    return JsonResponse({"total": total, "values": list(range(100))})


def signed(request, name):
    return JsonResponse({"name": sign(name, 30)})


def sign(name, depth):
    if depth:
        return sign(hashlib.sha256(name.encode()).hexdigest(), depth - 1)
    return name


urlpatterns = [path("", index), path("numbers/<int:count>", numbers), path("signed/<name>", signed)]

load.run(get_wsgi_application(), ["/", "/numbers/3000", "/signed/hello"], sys.argv[1], float(sys.argv[2]))
