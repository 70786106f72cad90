/** The testee of the Java SDK, as a program and inside the kit's own process. */
package io.eventbus.conformance.sdk;
