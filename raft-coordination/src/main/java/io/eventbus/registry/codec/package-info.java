/**
 * Encoding of the registry: commands, results and snapshots in Avro, each with the number of its
 * format. All input is bounded and checked before it is used; {@link
 * io.eventbus.registry.codec.RegistryFormatException} says what is wrong with it.
 */
package io.eventbus.registry.codec;
