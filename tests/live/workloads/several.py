"""The Python of Several.java: has a PHP in the process. PHP_SCRIPT is set by who runs this."""
import ctypes

# PHP's JIT only works where it believes in a command line.
php = ctypes.CDLL("libphp8.2.so", mode=ctypes.RTLD_GLOBAL)
ctypes.c_char_p.in_dll(php, "php_embed_module").value = b"cli"
if php.php_embed_init(0, None):
    raise SystemExit("PHP does not start")


def run_php(text):
    if php.zend_eval_string(text.encode(), None, b"several.py"):
        raise SystemExit(f"PHP fails: {text}")


def python_inner(n):
    run_php(f"php_outer({n});")
    return n


def python_outer(n):
    return sum(python_inner(n + one) for one in range(3))


run_php(f"require '{PHP_SCRIPT}';")
