/* A call to a service that is down: after four failures, it is left alone for two seconds. */
#include <stdio.h>
#include <tripcoil.h>

static int fetch(void) { return -1; } /* stands for a call over the network */

int main(void)
{
    tripcoil_registry *registry;
    tripcoil_resource *stock;

    tripcoil_registry_global(&registry);
    tripcoil_registry_load(registry,
        TRIPCOIL_STR("[{\"resource\": \"stock\", \"strategy\": 1, \"threshold\": 0.5,"
                     "  \"minRequestAmount\": 4, \"statIntervalMs\": 10000,"
                     "  \"retryTimeoutMs\": 2000}]"), NULL);
    tripcoil_registry_resource(registry, TRIPCOIL_STR("stock"), &stock);

    for (int i = 0; i < 6; i++) {
        tripcoil_entry entry;
        if (tripcoil_resource_enter(stock, &entry) == TRIPCOIL_OK) {
            int rc = fetch();
            tripcoil_entry_end(&entry, rc == 0 ? TRIPCOIL_GOOD : TRIPCOIL_BAD);
            puts(rc == 0 ? "answered" : "failed");
        } else {
            char why[256];
            tripcoil_entry_explain(&entry, why, sizeof why, NULL);
            printf("not called: %s\n", why);
        }
    }

    tripcoil_resource_free(stock);
    tripcoil_registry_free(registry);
    return 0;
}
