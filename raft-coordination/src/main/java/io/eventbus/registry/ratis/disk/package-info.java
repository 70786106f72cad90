/**
 * The registry of a bus on its disk: the data directory, and what operators do with one that no bus
 * uses.
 */
package io.eventbus.registry.ratis.disk;
