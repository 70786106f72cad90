/**
 * The registry of a bus on its disk: the data directory, and operations for operators on one that
 * no bus uses.
 */
package io.eventbus.registry.ratis.disk;
