/** The event bus of this project, through its own SDK. The bus runs in a JVM of its own. */
package io.eventbus.loadtest.driver.eventbus;
