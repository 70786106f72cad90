/**
 * Systems that keep small data safe on several servers, as the load test sees them: ports that each
 * system implements in a package of its own. The experiments in {@code run} know nothing else.
 */
package io.eventbus.loadtest.coordination;
