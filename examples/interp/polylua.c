/* polylua.c - a program with Lua 5.4 in it that profilers can look into: polylua SCRIPT ARGUMENT...
 *
 * What it takes are the three lines that say so. In Lua it has clock(), its seconds of the
 * processor.
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <polyperf/interp.h>
#include <stdio.h>
#include <time.h>

POLYPERF_INTERP_LUA(LUA_RELEASE); /* at file scope */

static int get_clock(lua_State *lua)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	lua_pushnumber(lua, (double)time.tv_sec + 1e-9 * (double)time.tv_nsec);
	return 1;
}

/* An error with the calls that led to it. */
static int add_calls(lua_State *lua)
{
	luaL_traceback(lua, lua, lua_tostring(lua, 1), 1);
	return 1;
}

static int run(lua_State *lua, int argc, char **argv)
{
	lua_pushcfunction(lua, add_calls);
	if (luaL_loadfile(lua, argv[1]) != LUA_OK)
		return 0;
	for (int i = 2; i < argc; i++)
		lua_pushstring(lua, argv[i]);
	void *before = polyperf_interp_lua(lua); /* around all that runs Lua */
	const int status = lua_pcall(lua, argc - 2, 0, 1);
	polyperf_interp_lua(before); /* in the end */
	return status == LUA_OK;
}

int main(int argc, char **argv)
{
	lua_State *lua = luaL_newstate();
	if (argc < 2 || !lua) {
		fprintf(stderr, "usage: polylua SCRIPT ARGUMENT...\n");
		return 2;
	}
	luaL_openlibs(lua);
	lua_register(lua, "clock", get_clock);
	const int is_done = run(lua, argc, argv);
	if (!is_done)
		fprintf(stderr, "polylua: %s\n", lua_tostring(lua, -1));
	lua_close(lua);
	return !is_done;
}
