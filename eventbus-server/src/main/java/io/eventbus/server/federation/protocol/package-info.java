/**
 * Frames between buses: their type codes, and readers and writers in place. Clients never see them,
 * so they are not in the jar of the SDK.
 */
package io.eventbus.server.federation.protocol;
