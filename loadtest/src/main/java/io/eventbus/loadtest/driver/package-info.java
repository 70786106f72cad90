/**
 * The port to a system under test, and what its adapters share: processes of servers, and faults
 * put in on purpose. Each system has a package of its own below this one.
 */
package io.eventbus.loadtest.driver;
