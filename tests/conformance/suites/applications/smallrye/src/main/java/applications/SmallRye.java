package applications;

import io.smallrye.config.SmallRyeConfigBuilder;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.se.SeContainerInitializer;
import org.eclipse.microprofile.config.spi.ConfigProviderResolver;
import org.eclipse.microprofile.reactive.messaging.Incoming;
import org.eclipse.microprofile.reactive.messaging.Outgoing;

/** SmallRye: a method between two channels. An order is committed after its invoice is written. */
@ApplicationScoped
public class SmallRye {
    public static void main(String[] arguments) throws InterruptedException {
        ConfigProviderResolver.instance()
                .registerConfig(
                        new SmallRyeConfigBuilder()
                                .addDefaultSources()
                                .addDefaultInterceptors()
                                .build(),
                        Thread.currentThread().getContextClassLoader());
        try (var container = SeContainerInitializer.newInstance().initialize()) {
            Thread.currentThread().join();
        }
    }

    @Incoming("orders")
    @Outgoing("invoices")
    public String invoice(String order) {
        return "invoice for " + order;
    }
}
