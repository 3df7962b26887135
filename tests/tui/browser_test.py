"""The browser of `polyperf report` in a real terminal, against saved screens.

    browser_test.py BUILD [--accept] [CASE...]

screens/NAME.txt is what is seen, without colours; --accept saves what is shown now.
"""
import contextlib
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'lib'))
import terminal  # noqa: E402
from terminal import Terminal  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
PATH = BUILD + ':' + os.environ['PATH']
terminal.GOLDEN = os.path.join(HERE, 'screens')


@contextlib.contextmanager
def recorded(kind='app', **options):
    """A terminal in the folder of a recording."""
    maker = os.path.join(BUILD, 'tests/tui/make_recording')
    made = subprocess.run([maker, kind], check=True, stdout=subprocess.PIPE, encoding='utf-8').stdout.strip()
    try:
        with Terminal(env={'PATH': PATH, **options.pop('env', {})}, **options) as t:
            t.made = made
            t.run(f'cd {made}; clear')
            t.wait('$')
            yield t
    finally:
        shutil.rmtree(made)


@contextlib.contextmanager
def browsing(arguments='', kind='app', **options):
    with recorded(kind, **options) as t:
        t.run(f'polyperf report {arguments}')
        t.wait(':quit')
        yield t


def opens_and_moves():
    with browsing() as t:
        t.golden('start', until='[unknown]')
        t.keys('Down', 'j')
        t.golden('moved', until='tool  10 samples')
        t.keys('G')
        t.wait('[jit]  v8  5 samples')
        t.keys('Home')
        t.wait('[jit]  v8  50 samples')


def shows_callers_and_callees():
    with browsing() as t:
        t.keys('Down', 'Enter')
        t.golden('callers', until='alpha app.js:2:1\n'.strip())
        t.keys('Right', 'Right', 'Right')
        t.wait('[jit]  v8  20 samples')
        t.golden('callers_deep')
        # Out: up to the one that is around, which closes, and so on up to the row.
        t.keys('Left', 'Left', 'Left', 'Left')
        t.golden('callers_closed')
        t.keys('d')
        t.wait('callees')
        t.keys('G', 'e')
        t.golden('callees', until='- main')
        t.keys('i')
        t.golden('children', until='Children')
        t.keys('e')
        t.wait('- alpha')
        t.keys('C')
        t.golden('children_closed')


def options_of_the_command_count():
    with browsing('-g callees --children --sort symbol,tier --percent-limit 6') as t:
        t.golden('options', until='Children')


def searches():
    with browsing() as t:
        t.keys('/')
        t.wait('Search:')
        t.type('be')
        t.wait('[jit]  v8  35 samples')
        t.keys('BSpace', 'BSpace')
        t.wait('[jit]  v8  50 samples')
        t.type('app\\.js')
        t.keys('Enter')
        t.golden('search')
        t.keys('n')
        t.wait('[jit]  v8  35 samples')
        t.keys('n', 'n')
        t.wait('[jit]  v8  50 samples')
        t.keys('N')
        t.wait('[jit]  v8  5 samples')
        t.keys('/')
        t.type('((')
        t.keys('Enter')
        t.wait('Unmatched')
        t.keys('/')
        t.type('nowhere')
        t.keys('Enter')
        t.wait('not found: nowhere')
        t.keys('/')
        t.type('beta')
        t.wait('[jit]  v8  35 samples')
        t.keys('Escape')
        t.wait('[jit]  v8  5 samples')


def filters_names():
    with browsing() as t:
        t.keys('f')
        t.type('BETA')
        t.golden('filter', until='*BETA*')
        t.keys('Enter', 'Escape')
        t.wait('[unknown]')


def zooms():
    with browsing() as t:
        t.keys('z')
        t.golden('zoom_menu', until='Zoom into')
        t.keys('o')
        t.wait('perf.data > [jit]')
        t.keys('z', 't')
        t.golden('zoom_threads', until='Threads')
        t.keys('Down', 'Enter')
        t.golden('zoomed', until='> :4000002 4000002')
        t.keys('Escape')
        t.wait(lambda screen: '> [jit]' in screen and '4000002' not in screen)
        t.keys('Left')
        t.wait('[unknown]')
        t.keys('z', 'p')
        t.wait('Programs')
        t.keys('G', 'Enter')
        t.wait('> tool')
        t.wait('100.00%')
        # What --tid and --comm leave is what is left here.
        wanted = subprocess.run([os.path.join(BUILD, 'polyperf'), 'report', '-i', t.made + '/perf.data', '--comm',
                                 'tool'], check=True, stdout=subprocess.PIPE, encoding='utf-8').stdout
        assert '100.00%       10' in wanted, wanted


def sorts_and_splits():
    with browsing() as t:
        t.keys('s')
        t.golden('sort_menu', until='Sort by')
        t.type('Sy')  # two begin with s: typing does not choose
        t.keys('Escape', 's', 'G', 'k', 'Enter')
        t.golden('sorted', until='Symbol*')
        t.keys('t')
        t.golden('tiers', until='sparkplug')
        t.keys('v')
        t.golden('versions', until='Version')


def annotates():
    with browsing() as t:
        t.keys('a')
        t.golden('annotate', until='q:back')
        t.keys('Tab')
        t.keys('Down', 'Enter')
        t.golden('annotate_jump', until='Off')
        t.keys('Enter')
        t.wait('no jump')
        t.keys('s')
        t.golden('annotate_source', until='Line')
        t.keys('b')
        t.golden('annotate_versions', until='v2')
        t.keys('a', 'v')
        t.golden('annotate_menu', until='┌─ Versions')
        t.keys('1')
        t.wait('100.00%        6')
        t.keys(']')
        t.wait('68.18%')
        t.keys('r')
        t.wait('01 f8')
        t.keys('/')
        t.type('call')
        t.keys('Enter')
        t.golden('annotate_search')
        # The call leads to another function, and back.
        t.keys('Enter')
        t.golden('annotate_callee', until='beta app.js:6:1  ')
        t.keys('q')
        t.wait('alpha app.js:2:1   ')
        t.keys('q')
        t.wait('q:quit')
        t.keys('j', 'j', 'a')
        t.wait('No instructions: nobody knows what code is there.')


def annotates_what_is_zoomed_into():
    with browsing() as t:
        t.keys('z', 't')
        t.wait('Threads')
        t.keys('Down', 'Enter')
        t.wait('> :4000002 4000002')
        t.keys('a')
        t.wait('15 samples, 75.00% of all 20 of cpu-clock')


def helps():
    with browsing() as t:
        t.keys('?')
        t.golden('help', until='┌─ Keys')
        t.keys('PageDown')
        t.golden('help_more', until='leave')
        t.keys('Escape', 'a')
        t.wait('q:back')
        t.keys('F1')
        t.golden('help_annotate', until='┌─ Keys')
        t.keys('x', 'q', 'q')
        t.wait('$')


def fits_narrow_screens():
    with browsing(rows=10, columns=40) as t:
        t.golden('narrow_start', until='main')
        t.keys('Enter')
        t.golden('narrow_callers', until='- alpha')
        t.keys('>')
        t.wait('…')
        t.keys('<', '?')
        t.golden('narrow_help', until='┌─ Keys')
        t.keys('Escape', 'a')
        t.golden('narrow_annotate', until='q:back')
        t.keys('>', '>', '>')
        t.golden('narrow_sideways')


def follows_the_size():
    with browsing() as t:
        t.resize(10, 40)
        t.golden('narrow_start')
        t.resize(5, 20)
        t.golden('tiny')
        t.resize(1, 3)
        t.wait('pe…')
        t.resize(24, 80)
        t.golden('start')
        t.resize(40, 160)
        t.golden('wide')


def hostile_names_stay_in_their_cells():
    with browsing(kind='hostile') as t:
        t.golden('hostile', until='line\\n')
        for _ in range(7):
            t.keys('Down')
        t.wait('13 samples')
        t.keys('>', '>')
        t.golden('hostile_long')
        t.keys('z', 'p')
        t.golden('hostile_menu', until='Programs')
        t.keys('Escape', 'Home', 'a')
        t.golden('hostile_annotate', until='q:back')
    with browsing(kind='hostile', env={'LC_ALL': 'C'}) as t:
        t.golden('hostile_ascii', until='line\\n')


def writes_what_is_shown():
    with browsing() as t:
        t.keys('Enter', 'w')
        t.wait('Write to: report.txt')
        t.keys('Enter')
        t.wait('written to report.txt')
        t.keys('P', 'Enter')
        t.wait('Replace it?')
        t.keys('n')
        t.wait('exact')
        t.keys('w', 'C-u')
        t.type('/no-such-folder/x')
        t.keys('Enter')
        t.wait('No such file or directory')
        t.keys('a', 'w', 'Enter')
        t.wait('written to annotate.txt')
        t.keys('q', 'q')
        t.wait('\n$')
        with open(t.made + '/report.txt', encoding='utf-8') as file:
            lines = file.read().split('\n')
        assert lines[0] == 'perf.data' and lines[1].startswith('90.0 % exact'), lines
        assert lines[3].split() == ['Overhead', 'Samples', 'Runtime', 'Tier', 'Trust', 'Symbol', 'Object'], lines
        assert lines[4].split()[-4:] == ['-', 'alpha', 'app.js:2:1', '[jit]'], lines
        with open(t.made + '/annotate.txt', encoding='utf-8') as file:
            shown = file.read()
        printed = subprocess.run([BUILD + '/polyperf', 'annotate', 'alpha'], check=True, cwd=t.made,
                                 stdout=subprocess.PIPE, encoding='utf-8', env={'LC_ALL': 'C.UTF-8'}).stdout
        assert shown == printed, shown


def gives_the_terminal_back():
    def check(keys):
        with recorded() as t:
            t.run('stty -a > before; echo above')
            t.wait('\nabove')
            t.run('polyperf report')
            t.wait('q:quit')
            assert t.is_alternate() and not t.cursor_is_shown()
            t.keys(*keys)
            t.wait(lambda _: not t.is_alternate())
            t.run('stty -a > after; cmp before after && echo the same')
            t.wait('\nthe same')
            shown = t.screen()
            assert 'above' in shown and 'q:quit' not in shown and t.cursor_is_shown(), shown
    check(['q'])
    check(['C-c'])
    check(['a', 'C-c'])
    check(['/', 'x', 'C-c'])


def can_be_stopped():
    with browsing(command='sh -im') as t:
        t.keys('Down')
        t.wait('v8  35 samples')
        t.keys('C-z')  # what was typed before would be lost
        t.wait('topped')
        t.run('fg')
        t.wait('[jit]  v8  35 samples')
        t.keys('q')
        t.wait(lambda _: not t.is_alternate())


def plain_where_it_should_be():
    with recorded() as t:
        commands = ('PAGER=cat polyperf report --stdio', 'polyperf --no-pager report',
                    'PAGER=cat TERM=dumb polyperf report', 'polyperf report | cat',
                    'PAGER=cat polyperf report < /dev/null', 'polyperf report > file; cat file')
        for number, command in enumerate(commands):
            t.run(f'clear; {command}; echo end $((0 + {number}))')
            shown = t.wait(f'\nend {number}')
            assert not t.is_alternate() and 'q:quit' not in shown, shown
            assert '  50.00%       50  v8       turbofan+sparkplug  exact    alpha' in shown, shown
        # Nothing to browse in.
        t.run('clear; polyperf report --pid 1; echo done')
        t.wait('\ndone')
        assert not t.is_alternate()


def colours_only_where_wanted():
    with browsing() as t:
        t.wait('\x1b[31m', styled=True)
    with browsing(env={'NO_COLOR': '1'}) as t:
        assert '\x1b[31m' not in t.screen(styled=True)


terminal.skip_without_tmux()
terminal.run_cases([opens_and_moves, shows_callers_and_callees, options_of_the_command_count, searches, filters_names,
                    zooms, sorts_and_splits, annotates, annotates_what_is_zoomed_into, helps, fits_narrow_screens,
                    follows_the_size, hostile_names_stay_in_their_cells, writes_what_is_shown,
                    gives_the_terminal_back, can_be_stopped, plain_where_it_should_be, colours_only_where_wanted])
