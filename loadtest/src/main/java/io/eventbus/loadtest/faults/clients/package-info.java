/** Clients of durable topics that go on through all faults, and record what they are told. */
package io.eventbus.loadtest.faults.clients;
