/**
 * How the registry is written down: commands, results and snapshots in Avro, each with the number
 * of its format. Everything that comes in is bounded and checked before it is believed; {@link
 * io.eventbus.registry.codec.RegistryFormatException} says what is wrong with it.
 */
package io.eventbus.registry.codec;
