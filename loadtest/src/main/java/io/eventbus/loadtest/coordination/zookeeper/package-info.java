/** Apache ZooKeeper: its own server class in a JVM for each server, its own client. */
package io.eventbus.loadtest.coordination.zookeeper;
