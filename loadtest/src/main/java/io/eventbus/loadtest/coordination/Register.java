package io.eventbus.loadtest.coordination;

/**
 * A named value as a system keeps it.
 *
 * @param name its name
 * @param value the value
 * @param version what a conditional write needs; grows with every write
 * @param writes how often it was written since it was created, as the system shows it
 */
public record Register(String name, String value, long version, long writes) {}
