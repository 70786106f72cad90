package io.eventbus.server.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Storing of events.
 *
 * @param directory where the bus keeps them, or null for a bus that stores none
 */
public record DurableConfig(@Nullable Path directory) {}
