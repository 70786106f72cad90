/**
 * Brokers that speak MQTT over WebSocket, each in a process of its own: Mosquitto and Artemis. All
 * use one client, HiveMQ's.
 */
package io.eventbus.loadtest.driver.mqtt;
