/** Durable topics of this bus: journals of accounts and their administration. */
@NullMarked
package io.eventbus.server.durable;

import org.jspecify.annotations.NullMarked;
