/**
 * Clients that go from bus to bus while events flow: what an experiment needs of buses and clients.
 * Implemented beside the driver of the event bus, which alone knows the client library.
 */
package io.eventbus.loadtest.switching;
