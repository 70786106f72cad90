/** Apache Kafka: its own server class in a JVM for each server, its own client. */
package io.eventbus.loadtest.driver.kafka;
