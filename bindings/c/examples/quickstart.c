/* A call that fails too often is not made for a while. */
#include <stdio.h>
#include <tripcoil.h>

static int fetch(void) { return -1; } /* a dependency that is down */

int main(void)
{
    tripcoil_registry *registry;
    tripcoil_resource *stock;

    tripcoil_registry_global(&registry);
    tripcoil_registry_load(registry,
        TRIPCOIL_STR("[{\"resource\": \"stock\", \"grade\": 1, \"count\": 0.5,"
                     "  \"minRequestAmount\": 2, \"timeWindow\": 10}]"), NULL);
    tripcoil_registry_resource(registry, TRIPCOIL_STR("stock"), &stock);

    for (int i = 0; i < 3; i++) {
        tripcoil_entry entry;
        if (tripcoil_resource_enter(stock, &entry) == TRIPCOIL_OK) {
            int rc = fetch();
            tripcoil_entry_end(&entry, rc == 0 ? TRIPCOIL_GOOD : TRIPCOIL_BAD);
            puts("called");
        } else {
            char why[256];
            tripcoil_entry_explain(&entry, why, sizeof why, NULL);
            puts(why);
        }
    }

    tripcoil_resource_free(stock);
    tripcoil_registry_free(registry);
    return 0;
}
