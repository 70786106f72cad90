/**
 * Admission of clients: how many connections the bus takes, and how much of it the clients of one
 * address may have.
 */
package io.eventbus.server.admission;
